import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { primaryTrack } from './lag.ts';
import { parseWalPosition, WAL_POSITION_PATTERN, walPositionText } from './wal-position.ts';

test('the lag of a replica is the time since the primary had the first thing that it lacks', () => {
  const track = primaryTrack();
  expect(track.lagOf(5n, 1000)).toBeUndefined();
  track.add(10n, 1000);
  expect(track.lagOf(9n, 1500)).toBeUndefined();
  expect(track.lagOf(10n, 1500)).toBe(0);
  track.add(20n, 2000);
  track.add(30n, 3000);
  expect(track.lagOf(10n, 5000)).toBe(3000);
  expect(track.lagOf(25n, 5000)).toBe(2000);
  expect(track.lagOf(30n, 5000)).toBe(0);
});

test('a replica that lacks the last change lags more and more while nothing is written', () => {
  const track = primaryTrack();
  track.add(10n, 0);
  track.add(20n, 1000);
  for (let at = 1500; at < 10_000; at += 500) track.add(20n, at);
  expect(track.lagOf(10n, 10_000)).toBe(9000);
});

test('a position before the last one means another primary, and the track starts over', () => {
  const track = primaryTrack();
  expect(track.add(10n, 0)).toBe(true);
  expect(track.add(20n, 500)).toBe(true);
  expect(track.add(15n, 1000)).toBe(false);
  expect(track.lagOf(12n, 1000)).toBeUndefined();
  expect(track.lagOf(15n, 1000)).toBe(0);
});

test('a track of any length gives the same result as a search from its start', () => {
  fc.assert(
    fc.property(fc.array(fc.bigInt(0n, 100n), { maxLength: 50 }), fc.bigInt(0n, 110n), (steps, replayed) => {
      const track = primaryTrack();
      const known: { position: bigint; at: number }[] = [];
      let position = 0n;
      steps.forEach((step, at) => {
        position += step;
        track.add(position, at);
        if (known.at(-1)?.position !== position) known.push({ position, at });
      });
      const missing = known.findIndex(entry => entry.position > replayed);
      const none = known.length === 0 || missing === 0;
      const expected = none ? undefined : missing === -1 ? 0 : 1000 - (known[missing]?.at as number);
      expect(track.lagOf(replayed, 1000)).toBe(expected);
    }),
    { numRuns: runs(100) },
  );
});

test('positions are compared as 64-bit numbers, and written as PostgreSQL writes them', () => {
  expect(parseWalPosition('0/FFFFFFFF') < parseWalPosition('1/0')).toBe(true);
  expect(parseWalPosition('9/0') < parseWalPosition('10/0')).toBe(true);
  expect(walPositionText(parseWalPosition('16/b374d848'))).toBe('16/B374D848');
  const pattern = new RegExp(WAL_POSITION_PATTERN);
  fc.assert(
    fc.property(fc.bigInt(0n, 0xffff_ffff_ffff_ffffn), position => {
      const text = walPositionText(position);
      expect(text).toMatch(pattern);
      expect(parseWalPosition(text)).toBe(position);
    }),
    { numRuns: runs(100) },
  );
});
