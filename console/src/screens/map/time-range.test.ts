import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf, lastDays, lengthOf, neighbourOf } from './time-range.ts';

const TODAY = '2026-03-03';

test('the last days end today, and are as many as they say', () => {
  expect(lastDays(1, TODAY)).toEqual({ from: '2026-03-03', to: undefined });
  expect(lastDays(7, TODAY)).toEqual({ from: '2026-02-25', to: undefined });
  for (const days of [1, 7, 30]) expect(lengthOf(lastDays(days, TODAY), TODAY)).toBe(days);
  expect(dayOf(new Date(2026, 2, 3, 23, 59))).toBe(TODAY);
});

test('a range moves by its length, and not beyond today', () => {
  const week = lastDays(7, TODAY);
  const before = neighbourOf(week, TODAY, -1);
  expect(before).toEqual({ from: '2026-02-18', to: '2026-02-24' });
  expect(neighbourOf(before ?? {}, TODAY, 1)).toEqual(week);
  expect(neighbourOf(week, TODAY, 1)).toBeUndefined();
  const range = fc.record({
    back: fc.integer({ min: 0, max: 5000 }),
    days: fc.integer({ min: 1, max: 400 }),
  });
  fc.assert(
    fc.property(range, ({ back, days }) => {
      const from = lastDays(back + days, TODAY).from as string;
      const to = back === 0 ? undefined : lastDays(back + 1, TODAY).from;
      const earlier = neighbourOf({ from, to }, TODAY, -1);
      expect(lengthOf(earlier ?? {}, TODAY)).toBe(lengthOf({ from, to }, TODAY));
      expect((earlier?.to as string) < from).toBe(true);
    }),
  );
});

test('a range without a beginning, or of times within a day, has no length and does not move', () => {
  for (const range of [
    {},
    { to: TODAY },
    { from: '2026-03-01T08:00:00Z' },
    { from: 'yesterday' },
    { from: '2026-04-01' },
    { from: '2026-02-01', to: '2026-01-01' },
  ]) {
    expect(lengthOf(range, TODAY)).toBeUndefined();
    expect(neighbourOf(range, TODAY, -1)).toBeUndefined();
  }
});
