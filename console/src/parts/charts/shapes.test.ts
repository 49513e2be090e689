import { expect, test } from 'vitest';
import { flowOf, linePath, roundMarks, stackedBars, streamOf } from './shapes.ts';

test('marks of an axis are round and reach above the greatest value', () => {
  expect(roundMarks(47.9)).toEqual([0, 20, 40, 60]);
  expect(roundMarks(160)).toEqual([0, 50, 100, 150, 200]);
  expect(roundMarks(0.3)).toEqual([0, 0.1, 0.2, 0.3]);
  expect(roundMarks(0)).toEqual([0, 1]);
  expect(roundMarks(Number.NaN)).toEqual([0, 1]);
});

test('a line goes from the left to the right, with the greatest value at the top', () => {
  expect(linePath([0, 5, 10], 100, 50, 10)).toBe('M0,50L50,25L100,0');
  expect(linePath([], 100, 50, 10)).toBe('');
});

test('the parts of a bar are stacked', () => {
  const bars = stackedBars(
    [
      [1, 2],
      [3, 0],
    ],
    100,
    40,
    4,
  );
  expect(bars.filter(({ at }) => at === 0)).toEqual([
    { series: 0, at: 0, x: 10, width: 30, y: 30, height: 10 },
    { series: 1, at: 0, x: 10, width: 30, y: 0, height: 30 },
  ]);
});

const INPUT = {
  nodes: [
    { id: 'a', column: 0, name: 'A' },
    { id: 'b', column: 0, name: 'B' },
    { id: 'c', column: 1, name: 'C' },
  ],
  links: [
    { from: 'a', to: 'c', amount: 3 },
    { from: 'b', to: 'c', amount: 1 },
  ],
};

test('a flow fits its box, and bands are as wide as their amounts', () => {
  const { nodes, bands } = flowOf(INPUT, 300, 98);
  const [a, b, c] = nodes;
  expect(a?.height).toBeCloseTo(3 * (b?.height ?? 0));
  expect(c?.amount).toBe(4);
  expect((b?.y ?? 0) + (b?.height ?? 0)).toBeLessThanOrEqual(98);
  expect(bands).toHaveLength(2);
});

test('a stream leads through to both ends, and to nothing beside it', () => {
  expect([...streamOf(INPUT.links, 'a')]).toEqual(['a', 'c']);
  expect([...streamOf(INPUT.links, 'c')].sort()).toEqual(['a', 'b', 'c']);
});
