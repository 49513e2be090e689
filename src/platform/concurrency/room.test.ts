import fc from 'fast-check';
import { expect, test } from 'vitest';
import { room } from './room.ts';

test('no more is inside than fits, things come in in their order, and all come in', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 40 }), async weights => {
      const { enter, leave } = room(10);
      const entered: number[] = [];
      let inside = 0;
      let things = 0;
      await Promise.all(
        weights.map(async (weight, n) => {
          await enter(weight);
          entered.push(n);
          inside += weight;
          things++;
          expect(inside <= 10 || things === 1 || inside === weight).toBe(true);
          await new Promise(resolve => setImmediate(resolve));
          inside -= weight;
          things--;
          leave(weight);
        }),
      );
      expect(entered).toEqual(weights.map((_, n) => n));
    }),
    { numRuns: 200 },
  );
});

test('what finds room comes in at once', () => {
  const { enter, leave } = room(10);
  expect(enter(4)).toBeUndefined();
  expect(enter(6)).toBeUndefined();
  expect(enter(1)).toBeInstanceOf(Promise);
  leave(4);
  expect(enter(1)).toBeUndefined();
});
