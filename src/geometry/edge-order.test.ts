import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { edgeOrder } from './edge-order.ts';

test('numbers keep their order, whatever is inserted and removed in between', () => {
  const step = fc.record({ at: fc.nat(), put: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), steps => {
      const order = edgeOrder(50);
      const expected: number[] = [];
      const free = Array.from({ length: 50 }, (_, edge) => edge);
      for (const { at, put } of steps) {
        if (put && free.length > 0) {
          const position = at % (expected.length + 1);
          const [edge = 0] = free.splice(at % free.length, 1);
          order.insertAfter(expected[position - 1] ?? -1, edge);
          expected.splice(position, 0, edge);
        } else if (!put && expected.length > 0) {
          const [edge = 0] = expected.splice(at % expected.length, 1);
          order.remove(edge);
          free.push(edge);
        }
        const ahead = [];
        for (let edge = order.next(-1); edge !== -1; edge = order.next(edge)) ahead.push(edge);
        const back = [];
        for (let edge = order.previous(-1); edge !== -1; edge = order.previous(edge)) back.push(edge);
        expect([ahead, back.reverse()]).toEqual([expected, expected]);
        const cut = at % (expected.length + 1);
        const below = new Set(expected.slice(0, cut));
        expect(order.lastBelow(edge => below.has(edge))).toBe(expected[cut - 1] ?? -1);
      }
    }),
    { numRuns: runs(300) },
  );
});

test('a position is found in few steps, whatever the order of insertion', () => {
  const count = 5000;
  for (const position of ['first', 'last', 'between'] as const) {
    const order = edgeOrder(count);
    const rank = new Map<number, number>();
    for (let edge = 0; edge < count; edge++) {
      const after =
        position === 'first' ? -1 : position === 'last' ? edge - 1 : edge % 2 === 0 ? -1 : edge - 1;
      order.insertAfter(after, edge);
    }
    for (let edge = order.next(-1); edge !== -1; edge = order.next(edge)) rank.set(edge, rank.size);
    let looks = 0;
    for (let cut = 0; cut < count; cut++) {
      const last = order.lastBelow(edge => {
        looks++;
        return (rank.get(edge) as number) < cut;
      });
      expect(rank.get(last) ?? -1).toBe(cut - 1);
    }
    // Twice the logarithm on average; a list would take 2,500.
    expect(looks / count).toBeLessThan(60);
  }
});
