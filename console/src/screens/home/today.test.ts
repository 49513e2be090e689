import { expect, test } from 'vitest';
import { addressOfHour, heights, hoursOfDay } from './today.ts';

test('a day begins at midnight of the browser and has its hours', () => {
  const { from, hours } = hoursOfDay(new Date(2026, 5, 15, 13, 30));
  expect([from.getDate(), from.getHours(), from.getMinutes()]).toEqual([15, 0, 0]);
  expect(hours).toBe(24);
});

test('bars are as high as the highest allows', () => {
  expect(heights([0, 5, 10])).toEqual([0, 0.5, 1]);
  expect(heights([0, 0])).toEqual([0, 0]);
});

test('an hour opens as a list up to its last millisecond', () => {
  expect(addressOfHour('2026-03-01T08:00:00.000Z')).toBe(
    '/packets?made_from=2026-03-01T08%3A00%3A00.000Z&made_to=2026-03-01T08%3A59%3A59.999Z',
  );
});
