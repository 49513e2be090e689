import { expect, test } from 'vitest';
import { heights, hoursOfDay } from './today.ts';

test('a day begins at midnight of the browser and has its hours', () => {
  const { from, hours } = hoursOfDay(new Date(2026, 5, 15, 13, 30));
  expect([from.getDate(), from.getHours(), from.getMinutes()]).toEqual([15, 0, 0]);
  expect(hours).toBe(24);
});

test('bars are as high as the highest allows', () => {
  expect(heights([0, 5, 10])).toEqual([0, 0.5, 1]);
  expect(heights([0, 0])).toEqual([0, 0]);
});
