import { expect, test } from 'vitest';
import { gauge, rate, total } from './series.ts';

const sample = (at: number, count: number) => ({
  at,
  metrics: [
    {
      name: 'requests',
      values: [
        { name: 'requests_count', labels: { route: 'a' }, value: count },
        { name: 'requests_count', labels: { route: 'b' }, value: 1 },
      ],
    },
  ],
});

test('metrics are summed over their labels, and counters become rates that survive a restart', () => {
  const samples = [sample(0, 10), sample(2000, 30), sample(4000, 4)];
  expect(total(samples[0]?.metrics ?? [], 'requests_count')).toBe(11);
  expect(total([], 'requests_count')).toBeUndefined();
  expect(gauge(samples, 'requests_count')).toEqual([11, 31, 5]);
  expect(rate(samples, 'requests_count')).toEqual([10, 2.5]);
});
