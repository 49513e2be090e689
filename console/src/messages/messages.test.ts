import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fill, type Message } from './fill.ts';

const SOURCES = path.resolve(import.meta.dirname, '..');
const LANGUAGES = ['en', 'de', 'es', 'rw', 'fr', 'sw'];
const areas = globSync('en/*.json', { cwd: import.meta.dirname }).map(file => path.basename(file, '.json'));

/** The messages of a language by their whole keys. */
function messagesOf(language: string): Record<string, Message> {
  const entries = areas.flatMap(area => {
    const file = path.join(import.meta.dirname, language, `${area}.json`);
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
    const files = globSync(`${language}/*.json`, { cwd: import.meta.dirname }).map(file =>
      path.basename(file, '.json'),
    );
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
      new RegExp(`^${(match[1] as string).replaceAll('.', '\\.').replaceAll(/\$\{[^}]*\}/g, '[\\w-]+')}$`),
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

test('placeholders are filled with numbers of the language, and plural forms follow its rules', () => {
  expect(fill('{name}: {n}', { name: 'Ana', n: 1234.5 }, 'de')).toBe('Ana: 1.234,5');
  const files = { one: '{count} file', other: '{count} files' };
  expect([0, 1, 2].map(count => fill(files, { count }, 'en'))).toEqual(['0 files', '1 file', '2 files']);
  expect(fill({ other: '{count} x' }, { count: 1 }, 'en')).toBe('1 x');
  expect(fill('{missing}', {}, 'en')).toBe('{missing}');
});
