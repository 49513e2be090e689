import { expect, test } from 'vitest';
import { languageOf } from './language.ts';

test('the header language selects one of four languages, in any case and repeated; others mean English', () => {
  for (const [language, code] of [
    ['EN', 'EN'],
    ['DE', 'DE'],
    ['RW', 'RW'],
    ['ES', 'ES'],
    ['es', 'ES'],
    [' DE , DE', 'DE'],
    ['RW,RW', 'RW'],
    ['FR', 'EN'],
    ['', 'EN'],
    ['DEU', 'EN'],
  ] as const) {
    expect(languageOf({ language }), language).toBe(code);
  }
  expect(languageOf({})).toBe('EN');
});
