import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runs } from '../../../test/helpers/property.ts';
import { processSlots, sharedSlots } from './slots.ts';

test('the taken weight never exceeds the total, work is admitted in order of arrival, and all of it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 40 }), async weights => {
      const { take, free } = processSlots({ total: 10 });
      const admitted: number[] = [];
      let taken = 0;
      let count = 0;
      await Promise.all(
        weights.map(async (weight, n) => {
          await take(weight);
          admitted.push(n);
          taken += weight;
          count++;
          expect(taken <= 10 || count === 1 || taken === weight).toBe(true);
          await new Promise(resolve => setImmediate(resolve));
          taken -= weight;
          count--;
          free(weight);
        }),
      );
      expect(admitted).toEqual(weights.map((_, n) => n));
    }),
    { numRuns: runs(200) },
  );
});

test('what fits is admitted at once', () => {
  const { take, free } = processSlots({ total: 10 });
  expect(take(4)).toBeUndefined();
  expect(take(6)).toBeUndefined();
  expect(take(1)).toBeInstanceOf(Promise);
  free(4);
  expect(take(1)).toBeUndefined();
});

test('a task beyond those that may wait is refused, and one that fails frees its slot', async () => {
  const full = new Error('full');
  const slots = processSlots({ total: 1, mostWaiting: 1, full: () => full });
  const held = Promise.withResolvers<string>();
  const first = slots.run(() => held.promise);
  const second = slots.run(async () => 'second');
  await expect(slots.run(async () => 'third')).rejects.toBe(full);
  held.reject(new Error('failed'));
  await expect(first).rejects.toThrow('failed');
  expect(await second).toBe('second');
  expect(await slots.run(async () => 'fourth')).toBe('fourth');
});

test('callers share a total, each has a part of it, and one without a name only the total', () => {
  const { take, free } = sharedSlots({ total: 10, perCaller: 6 });
  expect(take('a', 6)).toBe(true);
  expect(take('a', 1)).toBe(false);
  expect(take('b', 5)).toBe(false);
  expect(take(undefined, 4)).toBe(true);
  expect(take('b', 1)).toBe(false);
  free('a', 6);
  expect(take('b', 6)).toBe(true);
  free(undefined, 4);
  expect(take(undefined, 5)).toBe(false);
  expect(take(undefined, 4)).toBe(true);
});

describe('a wait for a slot', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const slots = (total: number) =>
    processSlots({ total, patienceMs: 5000, full: () => new Error('no slot in time') });

  test('a slot that becomes free goes to the first that waits', async () => {
    const { take, free } = slots(2);
    expect([take(), take()]).toEqual([undefined, undefined]);
    const admitted: string[] = [];
    const next = take()?.then(() => admitted.push('next'));
    const last = take()?.then(() => admitted.push('last'));
    vi.advanceTimersByTime(4999);
    expect(admitted).toEqual([]);
    free();
    await next;
    expect(admitted).toEqual(['next']);
    free();
    await last;
    expect(admitted).toEqual(['next', 'last']);
  });

  test('a task that gets no slot in time is refused, and takes none later', async () => {
    const { take, free } = slots(1);
    take();
    const refused = expect(take()).rejects.toThrow('no slot in time');
    vi.advanceTimersByTime(5000);
    await refused;
    free();
    expect(take()).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('lighter tasks are admitted when a heavy one before them gives up', async () => {
    const { take } = slots(10);
    take(6);
    const heavy = expect(take(5)).rejects.toThrow('no slot in time');
    vi.advanceTimersByTime(1);
    const light = take(4);
    vi.advanceTimersByTime(4999);
    await heavy;
    expect(await light).toBeUndefined();
  });
});
