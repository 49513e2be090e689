import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decimalMark, readNumber, writtenNumber } from './numbers.ts';

const LANGUAGES = ['en', 'de', 'es', 'fr', 'rw', 'sw'];
const values = fc
  .tuple(fc.integer({ min: -1e12, max: 1e12 }), fc.integer({ min: 0, max: 6 }))
  .map(([digits, places]) => ({ value: digits / 10 ** places, places }));

test('a number that the program writes is read as the same number, in every language', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(...LANGUAGES), ({ value, places }, language) => {
      const mark = decimalMark([language, 'en-GB']);
      const canonical = value.toFixed(places);
      expect(readNumber(writtenNumber(canonical, mark), mark)).toBe(canonical);
    }),
  );
});

test('a number as the language writes it, with groups, is that number or is refused', () => {
  fc.assert(
    fc.property(values, fc.constantFrom(...LANGUAGES), ({ value, places }, language) => {
      const locales = [language, 'en-GB'];
      const options = { minimumFractionDigits: places, maximumFractionDigits: places };
      const read = readNumber(new Intl.NumberFormat(locales, options).format(value), decimalMark(locales));
      if (read !== undefined) expect(Number(read)).toBe(Number(value.toFixed(places)));
      // Only a single group of thousands without decimals may mean something else.
      else expect(places === 0 && Math.abs(value) >= 1000 && Math.abs(value) < 1e6).toBe(true);
    }),
  );
});

test('decimal commas and points are read where they are clear, and other texts are not', () => {
  const read = (mark: string, ...texts: string[]) => texts.map(text => readNumber(text, mark));
  expect(read(',', '1.234,56', '1,234.56', '3,5', '3.5', '1,234', '1 234,5', "1'000'000", '−2')).toEqual([
    '1234.56',
    '1234.56',
    '3.5',
    '3.5',
    '1.234',
    '1234.5',
    '1000000',
    '-2',
  ]);
  expect(read('.', '1.234', '0,125', '1234,567', '1,234,567')).toEqual([
    '1.234',
    '0.125',
    '1234.567',
    '1234567',
  ]);
  expect(read('.', '1,234', '', 'x', '1,2,3', '1.', '.5', '1e3', '12,34,567', '1.2.3,4', '1 2')).toEqual(
    Array(10).fill(undefined),
  );
  expect(read(',', '1.234')).toEqual([undefined]);
});
