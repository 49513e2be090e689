import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fill, type Message } from '../messages/fill.ts';
import { catalogue } from '../src/platform/http/reasons/catalogue.ts';
import { commandReasons } from '../src/platform/http/reasons/commands.ts';

const SOURCES = path.resolve(import.meta.dirname, '../console/src');
const MESSAGES = path.resolve(import.meta.dirname, '../messages');
const LANGUAGES = ['en', 'de', 'es', 'rw', 'fr', 'sw'];
const areas = globSync('en/*.json', { cwd: MESSAGES }).map(file => path.basename(file, '.json'));

/** The messages of a language by their whole keys. */
function messagesOf(language: string): Record<string, Message> {
  const entries = areas.flatMap(area => {
    const file = path.join(MESSAGES, language, `${area}.json`);
    const messages: Record<string, Message> = JSON.parse(readFileSync(file, 'utf8'));
    return Object.entries(messages).map(([key, message]) => [`${area}.${key}`, message] as const);
  });
  return Object.fromEntries(entries);
}

const english = messagesOf('en');
const placeholdersIn = (message: Message) =>
  [...new Set(JSON.stringify(message).match(/\{\w+\}/g))].sort().join(' ');

test('every language has every message, with the same placeholders, and none that is empty', () => {
  expect(areas.length).toBeGreaterThan(3);
  for (const language of LANGUAGES) {
    const files = globSync(`${language}/*.json`, { cwd: MESSAGES }).map(file => path.basename(file, '.json'));
    expect(files.sort(), language).toEqual([...areas].sort());
    const messages = messagesOf(language);
    expect(Object.keys(messages).sort(), language).toEqual(Object.keys(english).sort());
    for (const [key, message] of Object.entries(messages)) {
      expect(placeholdersIn(message), `${language} ${key}`).toBe(placeholdersIn(english[key] as Message));
      const forms = typeof message === 'string' ? [message] : Object.values(message);
      for (const form of forms) expect(form.trim(), `${language} ${key}`).not.toBe('');
      if (typeof message !== 'string') expect(message.other, `${language} ${key}`).toBeDefined();
    }
  }
});

test('every message that is used exists, and every one that exists is used', () => {
  const sources = globSync('**/*.{ts,svelte}', { cwd: SOURCES }).filter(
    file => !/generated|\.test\.ts$/.test(file),
  );
  const text = sources.map(file => readFileSync(path.join(SOURCES, file), 'utf8')).join('\n');
  const area = `(?:${areas.join('|')})`;
  const literals = new Set(
    [...text.matchAll(new RegExp(`['"](${area}\\.[\\w.-]+)['"]`, 'g'))].map(match => match[1] as string),
  );
  // t(`packets.type.${type}`): every message that fits the pattern is used.
  const patterns = [...text.matchAll(new RegExp(`\`(${area}\\.[^\`]*\\$\\{[^\`]*)\``, 'g'))].map(
    match =>
      new RegExp(`^${(match[1] as string).replaceAll('.', '\\.').replaceAll(/\$\{[^}]*\}/g, '[\\w.-]+')}$`),
  );
  const keys = Object.keys(english);
  expect([...literals].filter(key => !keys.includes(key) && !/\.(svelte|ts|css|json)$/.test(key))).toEqual(
    [],
  );
  for (const pattern of patterns)
    expect(
      keys.filter(key => pattern.test(key)),
      String(pattern),
    ).not.toEqual([]);
  expect(keys.filter(key => !literals.has(key) && !patterns.some(pattern => pattern.test(key)))).toEqual([]);
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
  const reasons = Object.keys(catalogue).filter(reason => !(reason in commandReasons));
  const keys = Object.keys(english).filter(key => key.startsWith('reasons.'));
  expect(keys.sort()).toEqual(reasons.map(reason => `reasons.${reason}`).sort());
});

test('every message with a count has a singular and a plural form in every language', () => {
  const counting = Object.keys(english).filter(
    key => JSON.stringify(english[key]).includes('{count}') && !NEUTRAL.includes(key),
  );
  expect(counting.length).toBeGreaterThan(30);
  for (const language of LANGUAGES) {
    const messages = messagesOf(language);
    for (const key of counting) {
      const message = messages[key] as Message;
      expect(Object.keys(message), `${language} ${key}`).toEqual(expect.arrayContaining(['one', 'other']));
      for (const form of Object.values(message)) expect(form, `${language} ${key}`).toContain('{count}');
    }
  }
});

test('0, 1 and 2 have the form of each language; Kinyarwanda has a rule of its own, whatever the machine speaks', () => {
  const forms = { one: 'one {count}', other: 'other {count}' };
  const shown = (language: string) =>
    [0, 1, 2, 1_000_000].map(count => fill(forms, { count }, language).split(' ')[0]);
  expect(Object.fromEntries(LANGUAGES.map(language => [language, shown(language)]))).toEqual({
    en: ['other', 'one', 'other', 'other'],
    de: ['other', 'one', 'other', 'other'],
    es: ['other', 'one', 'other', 'other'],
    rw: ['other', 'one', 'other', 'other'],
    fr: ['one', 'one', 'other', 'other'],
    sw: ['other', 'one', 'other', 'other'],
  });
  const told = (key: string, language: string) =>
    [0, 1, 2].map(count => fill(messagesOf(language)[key] as Message, { count }, language));
  expect(told('home.today.count', 'en')).toEqual(['0 packets', '1 packet', '2 packets']);
  expect(told('home.today.count', 'fr')).toEqual(['0 paquet', '1 paquet', '2 paquets']);
  expect(told('home.today.count', 'rw')).toEqual(['Amapaketi 0', 'Ipaketi 1', 'Amapaketi 2']);
  expect(told('home.needs.invitations', 'sw')).toEqual([
    'Kampuni 0 zinakualika',
    'Kampuni 1 inakualika',
    'Kampuni 2 zinakualika',
  ]);
  expect(fill(english['reasons.validation.too_long'] as Message, { max: 1 }, 'en')).toBe(
    'At most 1 character',
  );
});

test('a sentence with several numbers has no noun that depends on one of them', () => {
  const sentence = english['currency.import.done'] as Message;
  expect(fill(sentence, { rates: 1, days: 1 }, 'en')).toBe('Imported. Rates: 1; days: 1');
});

test('placeholders are filled with numbers of the language, and plural forms follow its rules', () => {
  expect(fill('{name}: {n}', { name: 'Ana', n: 1234.5 }, 'de')).toBe('Ana: 1.234,5');
  const files = { one: '{count} file', other: '{count} files' };
  expect([0, 1, 2].map(count => fill(files, { count }, 'en'))).toEqual(['0 files', '1 file', '2 files']);
  expect(fill({ other: '{count} x' }, { count: 1 }, 'en')).toBe('1 x');
  expect(fill('{missing}', {}, 'en')).toBe('{missing}');
});
