import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lru } from './lru.ts';

describe('the cache', () => {
  test('forgets what was not used for longest', () => {
    const cache = lru<string>(2);
    cache.set('a', 'A');
    cache.set('b', 'B');
    cache.get('a');
    cache.set('c', 'C');
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['A', undefined, 'C']);
  });

  test('keeps the newest values that together weigh no more than they may', () => {
    const step = fc.record({ key: fc.constantFrom(...'abcdefgh'), weight: fc.integer({ min: 1, max: 6 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), steps => {
        const cache = lru<number>(12, weight => weight);
        let expected: { key: string; weight: number }[] = [];
        for (const { key, weight } of steps) {
          cache.set(key, weight);
          expected = [...expected.filter(kept => kept.key !== key), { key, weight }];
          while (expected.reduce((sum, kept) => sum + kept.weight, 0) > 12) expected.shift();
        }
        for (const key of 'abcdefgh') {
          expect(cache.get(key)).toBe(expected.find(kept => kept.key === key)?.weight);
        }
      }),
    );
  });

  test('does not keep a value that alone weighs too much', () => {
    const cache = lru<number>(5, weight => weight);
    cache.set('a', 9);
    expect(cache.get('a')).toBeUndefined();
  });
});
