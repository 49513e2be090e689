import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { parseRangeEnd, parseTimestamp } from './time.ts';

test('a moment keeps the offset it was given and is compared in UTC', () => {
  expect(parseTimestamp('2024-01-01T12:00:00+05:30')).toEqual({
    text: '2024-01-01T12:00:00+05:30',
    utc: '2024-01-01T06:30:00.000000Z',
  });
  expect(parseTimestamp('2024-01-01T12:00:00.123456789Z')).toEqual({
    text: '2024-01-01T12:00:00.123456789Z',
    utc: '2024-01-01T12:00:00.123456Z',
  });
});

test('without an offset it is UTC, without seconds they are zero, and a space stands for T', () => {
  expect(parseTimestamp('2024-01-01T12:00:00')?.text).toBe('2024-01-01T12:00:00Z');
  expect(parseTimestamp('2024-01-01 12:00-0300')?.text).toBe('2024-01-01T12:00:00-03:00');
});

test('impossible dates and other texts are no moments', () => {
  const wrong = [
    '',
    'yesterday',
    '2024-02-30T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '2024-13-01T00:00:00Z',
    '2024-01-01',
    '2024-01-01T24:00:00Z',
    '2024-01-01T23:60:00Z',
    '2024-01-01T23:59:60Z',
    '2024-01-01T00:00:00+14:01',
    '2024-01-01T00:00:00+02:60',
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    ' 2024-01-01T00:00:00Z',
    '２024-01-01T00:00:00Z',
  ];
  for (const text of wrong) expect(parseTimestamp(text), text).toBeUndefined();
});

test('of all days that can be written only those of the calendar are read', () => {
  const two = (n: number) => String(n).padStart(2, '0');
  fc.assert(
    fc.property(fc.nat(9999), fc.nat(14), fc.nat(32), fc.nat(25), (year, month, day, hour) => {
      const date = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:00:00`;
      const real = new Date(`${date}Z`);
      const exists = year > 0 && !Number.isNaN(real.getTime()) && real.toISOString().startsWith(date);
      expect(parseTimestamp(date) !== undefined).toBe(exists);
    }),
    { numRuns: runs(2000) },
  );
});

test('any moment at any offset is the moment it was', () => {
  const moments = fc.date({
    min: new Date('0001-01-03T00:00:00Z'),
    max: new Date('9999-12-29T00:00:00Z'),
    noInvalidDate: true,
  });
  fc.assert(
    fc.property(moments, fc.integer({ min: -840, max: 840 }), (moment, offset) => {
      const local = new Date(moment.getTime() + offset * 60_000).toISOString().slice(0, 23);
      const [hours, minutes] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
      const suffix = `${offset < 0 ? '-' : '+'}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`;
      expect(parseTimestamp(local + suffix)?.utc).toBe(`${moment.toISOString().slice(0, 23)}000Z`);
    }),
    { numRuns: runs(100) },
  );
});

test('a range takes dates as whole days, and a plus sign that a URL turned into a space', () => {
  expect(parseRangeEnd('2024-03-01', 'from')).toBe('2024-03-01T00:00:00.000000Z');
  expect(parseRangeEnd('2024-03-01', 'to')).toBe('2024-03-01T23:59:59.999999Z');
  expect(parseRangeEnd('2024-03-01T10:00:00 02:00', 'from')).toBe('2024-03-01T08:00:00.000000Z');
  expect(parseRangeEnd('2024-03-01T10:00 02:00', 'from')).toBe('2024-03-01T08:00:00.000000Z');
  expect(parseRangeEnd('2024-02-30', 'to')).toBeUndefined();
});
