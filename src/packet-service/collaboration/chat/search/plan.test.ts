import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../../test/helpers/property.ts';
import { BATCH, firstStep, nextStep, type Progress } from './plan.ts';

/** A search that has read 10,000 messages of five threads and found ten matches. */
const progress: Progress = {
  own: 10_000,
  matches: 10,
  share: 1,
  left: 50,
  threads: 5,
  total: 1_000_000,
  sets: [[1], [2]],
};

test('up to sixteen threads are read one by one, more in order of time', () => {
  expect(firstStep(1)).toEqual({ way: 'by thread', count: 10_000 });
  expect(firstStep(16)).toEqual({ way: 'by thread', count: 625 });
  expect(firstStep(17)).toEqual({ way: 'by time', count: 2000 });
});

test('reading of frequent matches continues the way it started', () => {
  const frequent = { ...progress, matches: 1000 };
  expect(nextStep('by thread', frequent).way).toBe('by thread');
  expect(nextStep('by time', frequent).way).toBe('by time');
});

test('rare matches are looked up in the index', () => {
  expect(nextStep('by thread', { ...progress, matches: 0 })).toEqual({ way: 'look up' });
  expect(nextStep('by time', { ...progress, matches: 0 })).toEqual({ way: 'look up' });
});

test('nothing is looked up if the index would not narrow the search', () => {
  const useless: Progress = { ...progress, matches: 0, sets: 'useless' };
  expect(nextStep('by thread', useless).way).toBe('by thread');
  expect(nextStep('by time', useless).way).toBe('by time');
});

test('many sets make a look-up too expensive for the few messages left to read', () => {
  const rare: Progress = { ...progress, matches: 3, total: 20_000 };
  expect(nextStep('by thread', { ...rare, sets: [[1]] }).way).toBe('look up');
  const many = Array.from({ length: 250 }, (_, n) => [n]);
  expect(nextStep('by thread', { ...rare, sets: many }).way).toBe('by thread');
});

test('one set is assumed while the sets of the index are unknown', () => {
  const rare: Progress = { ...progress, matches: 0 };
  expect(nextStep('by thread', { ...rare, sets: 'unknown' })).toEqual(
    nextStep('by thread', { ...rare, sets: [[1]] }),
  );
});

test('a look-up costs no more than one set while the sets of the index are unknown', () => {
  const rare: Progress = { ...progress, matches: 3, total: 5000, sets: 'unknown' };
  expect(nextStep('by thread', rare).way).toBe('look up');
});

test('a small table is read to its end rather than looked up', () => {
  expect(nextStep('by thread', { ...progress, matches: 0, total: 3000 }).way).toBe('by thread');
});

test('many candidates make a look-up more expensive than reading', () => {
  // All matches are wanted: reading passes every message once, the look-up fetches every candidate.
  const all: Progress = { ...progress, left: Number.POSITIVE_INFINITY, total: 100_000 };
  expect(nextStep('by thread', { ...all, matches: 10 }).way).toBe('look up');
  expect(nextStep('by thread', { ...all, matches: 5000 }).way).toBe('by thread');
});

test('each batch of a look-up has its own cost', () => {
  const wanted = (left: number) =>
    nextStep('by time', { ...progress, own: 10_000, matches: 200, total: 1_000_000, left }).way;
  expect(wanted(BATCH)).toBe('by time');
  // The same frequency, a tenth of it the user's: reading costs ten times as much.
  expect(nextStep('by time', { ...progress, matches: 200, left: BATCH, share: 0.11 }).way).toBe('look up');
});

test('starting to read each of many threads costs more than a look-up', () => {
  const few: Progress = { ...progress, matches: 1000, total: 3000, sets: [[1]] };
  expect(nextStep('by thread', { ...few, left: 100, threads: 5 }).way).toBe('by thread');
  expect(nextStep('by thread', { ...few, left: 100, threads: 500 }).way).toBe('look up');
});

test('a search for everything pays for each batch of a look-up', () => {
  // 20,000 matches are ten batches, and each fetches all candidates again.
  const all: Progress = { ...progress, matches: 200, left: Number.POSITIVE_INFINITY };
  expect(nextStep('by thread', all).way).toBe('by thread');
  expect(nextStep('by thread', { ...all, left: BATCH }).way).toBe('by thread');
  expect(nextStep('by thread', { ...all, matches: 20 }).way).toBe('look up');
});

test('a step reads for one batch of matches, however many are wanted', () => {
  const all: Progress = { ...progress, matches: 1000, left: Number.POSITIVE_INFINITY };
  const step = nextStep('by thread', all) as { count: number };
  expect(step.count).toBeGreaterThan(5000);
  expect(step.count).toBeLessThan(5210);
});

test('threads are read one by one if few messages are the user’s', () => {
  const mine = { ...progress, matches: 1000 };
  expect(nextStep('by time', { ...mine, share: 0.1 }).way).toBe('by time');
  expect(nextStep('by time', { ...mine, share: 0.09 }).way).toBe('by thread');
});

test('messages of others do not matter once threads are read one by one', () => {
  const mine = { ...progress, matches: 1000 };
  expect(nextStep('by time', { ...mine, share: 0.05 })).toEqual(nextStep('by thread', mine));
  expect(nextStep('by thread', { ...mine, share: 0.05 })).toEqual(nextStep('by thread', mine));
});

test('the number of threads does not matter when reading in order of time', () => {
  const mine: Progress = { ...progress, matches: 1000, total: 3000, sets: [[1]] };
  expect(nextStep('by time', { ...mine, threads: 5000 })).toEqual(nextStep('by time', mine));
});

test('the smaller the share, the longer a step by time', () => {
  const step = (share: number) => nextStep('by time', { ...progress, matches: 1000, share });
  const whole = step(1) as { count: number };
  const half = step(0.5) as { count: number };
  // 50 of 1000 in 10,000 lie in about 500 messages; with room for chance 1500, and never less than the least step.
  expect(whole.count).toBe(2000);
  expect(half.count).toBeGreaterThan(2000);
  expect(half.count).toBeLessThan(3010);
});

test('a step by thread spreads its messages over the threads', () => {
  const step = nextStep('by thread', { ...progress, matches: 100 }) as { way: string; count: number };
  // 50 of 100 in 10,000: about 5000 messages, with a margin of 1.3 over five threads.
  expect(step.way).toBe('by thread');
  expect(step.count).toBeGreaterThan(1290);
  expect(step.count).toBeLessThanOrEqual(1300);
});

test('a step reads at least one message of each thread and at most 100,000 in all', () => {
  const number = (max: number) => fc.integer({ min: 0, max });
  fc.assert(
    fc.property(
      fc.record({
        own: number(10_000_000),
        matches: number(1_000_000),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
        left: fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.constant(Number.POSITIVE_INFINITY)),
        threads: fc.integer({ min: 1, max: 10_000 }),
        total: fc.integer({ min: 1, max: 100_000_000 }),
        sets: fc.constantFrom<Progress['sets']>('unknown', 'useless', [[1]], [[1], [2, 3]]),
      }),
      fc.constantFrom<'by time' | 'by thread'>('by time', 'by thread'),
      (made, way) => {
        const step = nextStep(way, made);
        if (step.way === 'look up') return made.sets !== 'useless';
        const messages = step.way === 'by thread' ? (step.count - 1) * made.threads : step.count;
        return Number.isInteger(step.count) && step.count >= 1 && messages <= 100_000;
      },
    ),
    { numRuns: runs(100) },
  );
});
