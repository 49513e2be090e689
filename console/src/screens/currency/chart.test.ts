import { expect, test } from 'vitest';
import { chartOf, monthlyRates } from './chart.ts';

test('a line goes through the rates by their days, between round values', () => {
  const rates = [
    { date: '2026-03-02', value: '10' },
    { date: '2026-03-03', value: '30' },
    { date: '2026-03-06', value: '20' },
  ];
  expect(chartOf(rates, 400, 100)).toEqual({
    path: 'M0,100L100,0L400,50',
    least: rates[0],
    greatest: rates[1],
    values: [
      { value: 10, at: 100 },
      { value: 20, at: 50 },
      { value: 30, at: 0 },
    ],
    digits: 0,
    days: [
      { value: Date.UTC(2026, 2, 2), at: 0 },
      { value: Date.UTC(2026, 2, 3), at: 100 },
      { value: Date.UTC(2026, 2, 4), at: 200 },
      { value: Date.UTC(2026, 2, 5), at: 300 },
      { value: Date.UTC(2026, 2, 6), at: 400 },
    ].filter((_, n) => n % 2 === 0),
    areMonths: false,
  });
});

test('one rate is a point in the middle, and without any there is no line', () => {
  const chart = chartOf([{ date: '2026-03-02', value: '10' }], 400, 100);
  expect(chart).toMatchObject({ path: 'M200,50', values: [{ value: 10, at: 50 }] });
  expect(chartOf([], 400, 100)).toBeUndefined();
});

test('a year has marks at beginnings of months, as many as there is room for, and values with the decimals they need', () => {
  const rates = Array.from({ length: 365 }, (_, n) => ({
    date: new Date(Date.UTC(2025, 10, 25) + n * 86_400_000).toISOString().slice(0, 10),
    value: String(1.0812 + n / 10_000),
  }));
  const monthsOf = (width: number) =>
    chartOf(rates, width, 180)?.days.map(({ value }) => new Date(value).toISOString().slice(0, 10));
  expect(monthsOf(280)).toEqual(['2026-01-01', '2026-07-01']);
  expect(monthsOf(600)).toEqual([
    '2026-01-01',
    '2026-03-01',
    '2026-05-01',
    '2026-07-01',
    '2026-09-01',
    '2026-11-01',
  ]);
  expect(chartOf(rates, 600, 180)).toMatchObject({
    digits: 2,
    values: [1.08, 1.09, 1.1, 1.11, 1.12].map(value => ({ value })),
  });
  const figures = monthlyRates(rates).map(({ date }) => date);
  expect([figures.length, figures[0], figures[1], figures.at(-1)]).toEqual([
    13,
    '2025-12-01',
    '2026-01-01',
    '2026-11-24',
  ]);
  expect(monthlyRates([])).toEqual([]);
});
