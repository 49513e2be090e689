import { globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = import.meta.dirname;
const MODULES = path.join(FOLDER, '../../node_modules');
const MESSAGES = path.join(FOLDER, '../../../messages');
const MOST_BYTES = 120_000;
/** Letters of languages of West and East Africa, of which the fonts have some and the system the others. */
const AFRICAN = 'ƁɓƊɗƘƙƳƴŊŋƐɛƆɔƲʋṢṣĨĩŨũŠšĀāĒēĪīŌōŪū';

const faces = readFileSync(path.join(FOLDER, 'fonts.css'), 'utf8')
  .split('@font-face')
  .slice(1)
  .map(face => ({
    family: /font-family: "(.+)"/.exec(face)?.[1],
    file: /url\("(.+)"\)/.exec(face)?.[1] ?? '',
    ranges: [...(/unicode-range:([^;]+)/.exec(face)?.[1] ?? '').matchAll(/U\+(\w+)(?:-(\w+))?/g)].map(
      ([, from = '', to = from]) => [Number.parseInt(from, 16), Number.parseInt(to, 16)] as const,
    ),
  }));

test('all fonts together stay below their size', () => {
  const bytes = faces.reduce((sum, { file }) => sum + statSync(path.join(MODULES, file)).size, 0);
  expect(faces.length).toBeGreaterThan(2);
  expect(bytes).toBeLessThan(MOST_BYTES);
});

test('a font is asked for every letter of the languages of the console and of African ones', () => {
  const texts = globSync(`${MESSAGES}/**/*.json`).map(file => readFileSync(file, 'utf8'));
  const letters = [...new Set([...texts.join(''), ...AFRICAN].filter(one => /\p{L}/u.test(one)))];
  expect(letters.length).toBeGreaterThan(80);
  for (const family of ['Instrument Sans', 'Newsreader']) {
    const ranges = faces.filter(face => face.family === family).flatMap(face => face.ranges);
    const missing = letters.filter(one => {
      const code = one.codePointAt(0) ?? 0;
      return !ranges.some(([from, to]) => from <= code && code <= to);
    });
    expect(missing, family).toEqual([]);
  }
});
