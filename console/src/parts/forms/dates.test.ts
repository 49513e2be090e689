import { expect, test } from 'vitest';
import { isDay, moved, readDay, weeksOf, writtenDay } from './dates.ts';

const NOW = '2026-05-14';

test.each([
  ['2026-05-12', 'en', '2026-05-12'],
  ['12 May 2026', 'en', '2026-05-12'],
  ['May 12', 'en-US', '2026-05-12'],
  ['12.5.', 'de', '2026-05-12'],
  ['12.5.26', 'de', '2026-05-12'],
  ['12. März 2025', 'de', '2025-03-12'],
  ['5/12/2026', 'en-US', '2026-05-12'],
  ['12/5/2026', 'en-GB', '2026-05-12'],
  ['12 mai', 'fr', '2026-05-12'],
  ['gestern', 'de', '2026-05-13'],
  ['Yesterday', 'en', '2026-05-13'],
  ['12 May 2026', 'en-ZA', '2026-05-12'],
  ['May 12, 2026', 'en-CA', '2026-05-12'],
  ['2026/05/12', 'en-ZA', '2026-05-12'],
  ['12/5/2', 'en-GB', undefined],
  ['12/5/202', 'en-GB', undefined],
  ['12/5/20266', 'en-GB', undefined],
  ['31/2/2026', 'en-GB', undefined],
  ['12', 'en', undefined],
  ['', 'en', undefined],
  ['soon', 'en', undefined],
])('%j in %s is the day %s', (typed, locale, day) => {
  expect(readDay(typed, [locale], NOW)).toBe(day);
});

test('what a language writes, it reads, in every month', () => {
  const months = Array.from({ length: 12 }, (_, n) => moved('2025-01-13', { months: n }));
  for (const locale of ['en-US', 'en-GB', 'en-CA', 'en-ZA', 'de', 'fr', 'fr-CA', 'es', 'sw', 'rw'])
    for (const day of months)
      expect(readDay(writtenDay(day, [locale]), [locale], NOW), `${locale} ${day}`).toBe(day);
});

test.each(['2026-13-01', '2026-02-30', 'end of 2026', '2026-05-12T10:00:00Z', ''])(
  '%j is no day, and is written as it is',
  text => {
    expect(isDay(text)).toBe(false);
    expect(writtenDay(text, ['en'])).toBe(text);
  },
);

test('weeks begin on Monday and have days of the months beside', () => {
  const weeks = weeksOf('2026-05');
  expect(weeks[0]?.[0]).toBe('2026-04-27');
  expect(weeks.at(-1)?.at(-1)).toBe('2026-05-31');
  expect(weeks.every(week => week.length === 7)).toBe(true);
});

test('a month after the last of January is the last of February', () => {
  expect(moved('2026-01-31', { months: 1 })).toBe('2026-02-28');
  expect(moved('2026-01-01', { days: -1 })).toBe('2025-12-31');
});
