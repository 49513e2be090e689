import { expect, test } from 'vitest';
import { addressOfHour, hoursOfTwoDays } from './today.ts';

test('two days begin at midnight of the browser and have their hours', () => {
  const { from, before, hours } = hoursOfTwoDays(new Date(2026, 5, 15, 13, 30));
  expect([from.getDate(), from.getHours(), from.getMinutes()]).toEqual([14, 0, 0]);
  expect([before, hours]).toEqual([24, 48]);
});

test('an hour opens as a list up to its last millisecond', () => {
  expect(addressOfHour('2026-03-01T08:00:00.000Z')).toBe(
    '/packets?made_from=2026-03-01T08%3A00%3A00.000Z&made_to=2026-03-01T08%3A59%3A59.999Z',
  );
});
