import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { fill, type Language, type Message } from '../messages/fill.ts';
import {
  faultsOf,
  lackingMessages,
  ownCatalogue,
  readCatalogue,
  usageFaults,
} from '../scripts/message-catalogue.ts';
import { catalogue as reasonCatalogue } from '../src/platform/http/reasons/catalogue.ts';
import { commandReasons } from '../src/platform/http/reasons/commands.ts';
import { MESSAGE_LANGUAGES, readMessages } from '../src/platform/messages/messages.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const catalogue = ownCatalogue();
const languages = catalogue.languages as Record<'en' | 'de' | 'es' | 'rw' | 'fr' | 'sw', Language>;
const english = catalogue.messages.en as Readonly<Record<string, Message>>;

test('messages have the placeholders of English, all forms, and no key that English or the code lacks', () => {
  expect(Object.keys(english).length).toBeGreaterThan(1000);
  expect(faultsOf(catalogue)).toEqual([]);
});

test('every message that is used exists, and every one that exists is used', () => {
  expect(usageFaults(catalogue)).toEqual([]);
});

/** A catalogue of two languages in a folder of its own. */
function sample(english: object, german: object): string {
  const folder = path.join(mkdtempSync(path.join(tmpdir(), 'fieldtrace-messages-')), 'messages');
  onTestFinished(() => rmSync(path.dirname(folder), { recursive: true }));
  for (const [language, messages] of Object.entries({ en: english, de: german })) {
    mkdirSync(path.join(folder, language), { recursive: true });
    writeFileSync(path.join(folder, language, 'home.json'), JSON.stringify(messages));
  }
  const { en, de } = languages;
  writeFileSync(path.join(folder, 'languages.json'), JSON.stringify({ en, de }));
  return folder;
}

test('missing translations are listed but not faults; other placeholders, empty forms and unknown keys are faults', () => {
  const files = { one: '{count} file', other: '{count} files' };
  const found = readCatalogue(
    sample(
      { title: 'Start', hello: 'Hello {name}', files, empty: 'x' },
      { hello: 'Hallo {nam}', files: { one: '{count} Datei' }, empty: ' ', more: 'x' },
    ),
  );
  expect(lackingMessages(found)).toEqual({ en: [], de: ['home.title'] });
  expect(faultsOf(found)).toEqual([
    'de home.hello: has the placeholders {nam}, not {name}',
    'de home.files: lacks the form "other"',
    'de home.empty: is empty',
    'de home.more: has no English message',
  ]);
  expect(usageFaults(found)).toEqual(
    expect.arrayContaining(['home.files: is unused', 'home.today.hour: has no English message']),
  );
});

test('the build fills missing messages of the console with English, and changes no other file', async () => {
  const plugIn: string = path.join(ROOT, 'console/english-messages.js');
  const { englishMessages } = await import(plugIn);
  const folder = sample({ title: 'Start', end: 'End' }, {});
  const of = (file: string, code: string) =>
    englishMessages().transform.call({ addWatchFile: () => {} }, code, path.join(folder, file));
  expect(of('en/home.json', '{"title":"Start"}')).toBeNull();
  expect(of('de/services/mails.json', '{}')).toBeNull();
  expect(JSON.parse(of('de/home.json', '{"end":"Ende"}').code)).toEqual({ title: 'Start', end: 'Ende' });
});

test('the services use English if a language lacks a message, or everything', () => {
  const wordsIn = readMessages<string>('services/label-instructions.json');
  const keys = Object.keys(english).filter(key => key.startsWith('label-instructions.'));
  for (const language of MESSAGE_LANGUAGES) {
    const own = catalogue.messages[language] ?? {};
    const hasSome = keys.some(key => key in own);
    expect(wordsIn(language.toUpperCase()).language).toBe(hasSome ? language : 'en');
    for (const key of keys) expect(wordsIn(language).t(key), language).toBe(own[key] ?? english[key]);
  }
  for (const unknown of ['pt', '', undefined, 'constructor', 'des'])
    expect(wordsIn(unknown).language, unknown).toBe('en');
  expect(wordsIn('De-CH').language).toBe('de');
});

/** Prints what depends on rules of languages, in every language. */
const PRINTS_TEXTS = path.join(ROOT, 'test/helpers/print-texts.ts');

test('texts are the same on machines of every language', async () => {
  const printed = await Promise.all(
    ['C.UTF-8', 'rw_RW.UTF-8', 'de_DE.UTF-8'].map(async locale => {
      const env = { ...process.env, LANG: locale, LC_ALL: locale, LANGUAGE: '' };
      return (await promisify(execFile)(process.execPath, [PRINTS_TEXTS], { env })).stdout;
    }),
  );
  expect(printed[0]).toContain('Ipaketi 1"');
  expect(printed[0]).toContain('Wasangijwe ikindi cyabonetse mu murima: 1.');
  expect(printed[0]).toContain('2027 Werurwe 1');
  expect(new Set(printed).size, printed.join('')).toBe(1);
});

/** Messages with a count that no word depends on. */
const NEUTRAL = [
  'common.field.length',
  'common.filters.chosen',
  'common.filters.more.chosen',
  'home.today.hour',
  'reasons.rates_file.wrong_cell_count',
];

test('every reason that a request can fail with has a message', () => {
  const reasons = Object.keys(reasonCatalogue).filter(reason => !(reason in commandReasons));
  const keys = Object.keys(english).filter(key => key.startsWith('reasons.'));
  expect(keys.sort()).toEqual(reasons.map(reason => `reasons.${reason}`).sort());
});

test('every message with a count has a singular and a plural form in every language that has it', () => {
  const counting = Object.keys(english).filter(
    key => JSON.stringify(english[key]).includes('{count}') && !NEUTRAL.includes(key),
  );
  expect(counting.length).toBeGreaterThan(30);
  for (const [language, messages] of Object.entries(catalogue.messages)) {
    for (const key of counting.filter(known => known in messages)) {
      const message = messages[key] as Message;
      expect(Object.keys(message), `${language} ${key}`).toEqual(expect.arrayContaining(['one', 'other']));
      for (const form of Object.values(message)) expect(form, `${language} ${key}`).toContain('{count}');
    }
  }
});

test('0, 1 and 2 have the form of each language; Kinyarwanda has a rule of its own, whatever the machine speaks', () => {
  const forms = { one: 'one {count}', other: 'other {count}' };
  const shown = (language: Language) =>
    [0, 1, 2, 1_000_000].map(count => fill(forms, { count }, language).split(' ')[0]);
  expect(
    Object.fromEntries(Object.entries(languages).map(([tag, language]) => [tag, shown(language)])),
  ).toEqual({
    en: ['other', 'one', 'other', 'other'],
    de: ['other', 'one', 'other', 'other'],
    es: ['other', 'one', 'other', 'other'],
    rw: ['other', 'one', 'other', 'other'],
    fr: ['one', 'one', 'other', 'other'],
    sw: ['other', 'one', 'other', 'other'],
  });
  expect(fill(forms, { count: 0 }, { ...languages.rw, plurals: 'fr' })).toBe('one 0');
  for (const { name, plurals } of Object.values(languages))
    expect(Intl.PluralRules.supportedLocalesOf(plurals), name).toEqual([plurals]);
  const told = (key: string, language: keyof typeof languages) =>
    [0, 1, 2].map(count =>
      fill(catalogue.messages[language]?.[key] as Message, { count }, languages[language]),
    );
  expect(told('home.today.count', 'en')).toEqual(['0 packets', '1 packet', '2 packets']);
  expect(told('home.today.count', 'fr')).toEqual(['0 paquet', '1 paquet', '2 paquets']);
  expect(told('home.today.count', 'rw')).toEqual(['Amapaketi 0', 'Ipaketi 1', 'Amapaketi 2']);
  expect(told('home.needs.invitations', 'sw')).toEqual([
    'Kampuni 0 zinakualika',
    'Kampuni 1 inakualika',
    'Kampuni 2 zinakualika',
  ]);
  expect(fill(english['reasons.validation.too_long'] as Message, { max: 1 }, languages.en)).toBe(
    'At most 1 character',
  );
});

test('a sentence with several numbers has no noun that depends on one of them', () => {
  const sentence = english['currency.import.done'] as Message;
  expect(fill(sentence, { rates: 1, days: 1 }, languages.en)).toBe('Imported. Rates: 1; days: 1');
});

test('placeholders are filled with numbers of the language, and plural forms follow its rules', () => {
  expect(fill('{name}: {n}', { name: 'Ana', n: 1234.5 }, languages.de)).toBe('Ana: 1.234,5');
  const files = { one: '{count} file', other: '{count} files' };
  expect([0, 1, 2].map(count => fill(files, { count }, languages.en))).toEqual([
    '0 files',
    '1 file',
    '2 files',
  ]);
  expect(fill({ other: '{count} x' }, { count: 1 }, languages.en)).toBe('1 x');
  expect(fill('{missing}', {}, languages.en)).toBe('{missing}');
});
