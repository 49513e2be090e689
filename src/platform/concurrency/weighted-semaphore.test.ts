import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/helpers/property.ts';
import { weightedSemaphore } from './weighted-semaphore.ts';

test('the acquired weight never exceeds the total, work is admitted in order of arrival, and all of it is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 40 }), async weights => {
      const { acquire, release } = weightedSemaphore(10);
      const admitted: number[] = [];
      let acquired = 0;
      let count = 0;
      await Promise.all(
        weights.map(async (weight, n) => {
          await acquire(weight);
          admitted.push(n);
          acquired += weight;
          count++;
          expect(acquired <= 10 || count === 1 || acquired === weight).toBe(true);
          await new Promise(resolve => setImmediate(resolve));
          acquired -= weight;
          count--;
          release(weight);
        }),
      );
      expect(admitted).toEqual(weights.map((_, n) => n));
    }),
    { numRuns: runs(200) },
  );
});

test('work that fits is admitted at once', () => {
  const { acquire, release } = weightedSemaphore(10);
  expect(acquire(4)).toBeUndefined();
  expect(acquire(6)).toBeUndefined();
  expect(acquire(1)).toBeInstanceOf(Promise);
  release(4);
  expect(acquire(1)).toBeUndefined();
});
