import { expect, test } from 'vitest';
import { lineOf } from './chart.ts';

test('a line goes through the rates by their days, the greatest at the top', () => {
  const rates = [
    { date: '2026-03-02', value: '10' },
    { date: '2026-03-03', value: '30' },
    { date: '2026-03-06', value: '20' },
  ];
  expect(lineOf(rates, 400, 100)).toEqual({
    path: 'M0,100L100,0L400,50',
    least: rates[0],
    greatest: rates[1],
  });
});

test('one rate is a point in the middle, and without any there is no line', () => {
  expect(lineOf([{ date: '2026-03-02', value: '10' }], 400, 100)?.path).toBe('M200,50');
  expect(lineOf([], 400, 100)).toBeUndefined();
});
