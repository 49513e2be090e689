import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { isUlid, newUlid, ulidFactory, ulidToUuid, uuidTime, uuidToUlid } from './ulid.ts';

test('ULIDs of one process ascend, within a millisecond and when the clock steps back', () => {
  const times = [5, 5, 5, 9, 9, 3, 3, 10];
  let at = 0;
  const make = ulidFactory(() => times[Math.min(at++, times.length - 1)] as number);
  const made = Array.from({ length: 500 }, make);
  expect(made.every(isUlid)).toBe(true);
  expect(made).toEqual([...new Set(made)].sort());
});

test('a step back of more than 10 s, as of a clock that had run ahead, is followed', () => {
  const times = [1_000_000, 990_000, 989_999, 989_998];
  const make = ulidFactory(() => times.shift() as number);
  const made = Array.from({ length: 4 }, () => uuidTime(ulidToUuid(make())));
  expect(made).toEqual([1_000_000, 1_000_000, 989_999, 989_999]);
});

test('a ULID begins with its time', () => {
  const make = ulidFactory(() => 1469918176385);
  const ulid = make();
  expect(ulid.slice(0, 10)).toBe('01ARYZ6S41');
  expect(uuidTime(ulidToUuid(ulid))).toBe(1469918176385);
});

test('ULID and uuid are the same 128 bits and sort alike', () => {
  const uuids = fc.uuid({ version: [1, 4, 7] });
  fc.assert(
    fc.property(uuids, uuids, (a, b) => {
      expect(ulidToUuid(uuidToUlid(a))).toBe(a);
      expect(BigInt(`0x${a.replaceAll('-', '')}`).toString(32).length).toBeLessThanOrEqual(26);
      expect(uuidToUlid(a) < uuidToUlid(b)).toBe(a < b);
    }),
    { numRuns: runs(100) },
  );
  expect(ulidToUuid('01ARZ3NDEKTSV4RRFFQ69G5FAV')).toBe('01563e3a-b5d3-d676-4c61-efb99302bd5b');
  expect(ulidToUuid('7ZZZZZZZZZZZZZZZZZZZZZZZZZ')).toBe('ffffffff-ffff-ffff-ffff-ffffffffffff');
});

test('only 26 characters of the alphabet whose value fits 128 bits are a ULID', () => {
  expect(isUlid(newUlid())).toBe(true);
  for (const text of [
    '',
    '8ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    '01ARZ3NDEKTSV4RRFFQ69G5FA',
    '01ARZ3NDEKTSV4RRFFQ69G5FAU',
  ]) {
    expect(isUlid(text)).toBe(false);
  }
});
