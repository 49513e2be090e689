import { expect, test } from 'vitest';
import { readingMeter } from './reading-speed.ts';

const KIB = 1024;

/** The look, from 1, at which a reader is found too slow; undefined if a hundred looks find nothing. */
function foundAt(speed: (look: number) => number, waits: (look: number) => boolean): number | undefined {
  const isTooSlow = readingMeter({ bytesPerSecond: 64 * KIB, seconds: 60 }, 5);
  let taken = 0;
  for (let look = 1; look <= 100; look++) {
    taken += speed(look) * 5;
    if (isTooSlow({ taken, waits: waits(look) })) return look;
  }
  return undefined;
}

const always = () => true;

test('a reader below 64 KiB/s over a minute in which something waits for it is found, and none at that speed', () => {
  // The first look begins the minute.
  expect(foundAt(() => 16 * KIB, always)).toBe(13);
  expect(foundAt(() => 0, always)).toBe(13);
  expect(foundAt(() => 64 * KIB - 1, always)).toBe(13);
  expect(foundAt(() => 64 * KIB, always)).toBeUndefined();
  // The kernel takes megabytes at once and then nothing for a while.
  expect(foundAt(look => (look % 6 === 0 ? 6 * 64 * KIB : 0), always)).toBeUndefined();
});

test('bytes that the kernel took before data waited do not count for the reader', () => {
  expect(foundAt(look => (look === 1 ? 50_000 * KIB : 16 * KIB), always)).toBe(13);
});

test('a reader becomes too slow in any minute, not on average over everything', () => {
  expect(foundAt(look => (look <= 20 ? 10_000 * KIB : KIB), always)).toBe(37);
});

test('time in which nothing waits for the reader does not count, however little there is to read', () => {
  expect(
    foundAt(
      () => 1,
      () => false,
    ),
  ).toBeUndefined();
  // Of two looks one sees something on its way, by chance.
  expect(
    foundAt(
      () => 1,
      look => look % 2 === 0,
    ),
  ).toBeUndefined();
  // Half of the time counts: a minute of waiting takes two.
  expect(
    foundAt(
      () => KIB,
      look => look % 20 >= 10,
    ),
  ).toBe(33);
});
