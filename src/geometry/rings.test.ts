import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { decided } from './predicates.ts';
import type { Ring } from './ring.ts';
import { checkRings } from './rings.ts';

type Corner = [x: number, y: number];

const ring = (corners: readonly Corner[], more: Partial<Ring> = {}): Ring => ({
  part: 0,
  hole: false,
  path: 'ring',
  line: [...corners, corners[0] as Corner].flat(),
  ...more,
});
const hole = (corners: readonly Corner[], n: number): Ring =>
  ring(corners.toReversed(), { hole: true, path: `hole ${n}` });
const box = (x: number, y: number, width: number, height = width): Corner[] => [
  [x, y],
  [x + width, y],
  [x + width, y + height],
  [x, y + height],
];

test('a ring meets itself exactly where comparing each edge with each finds that it does', () => {
  const corner = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }));
  let good = 0;
  fc.assert(
    fc.property(fc.array(corner, { minLength: 3, maxLength: 8 }), corners => {
      const apart = corners.filter((at, index) => `${at}` !== `${corners.at(index - 1)}`);
      fc.pre(apart.length >= 3);
      const fault = faultOf([ring(apart)]);
      expect(fault !== undefined).toBe(meetsItself(apart));
      if (fault === undefined) good++;
    }),
    { numRuns: runs(5000) },
  );
  expect(good).toBeGreaterThan(runs(5000) / 50);
});

test('two polygons are refused exactly where they share ground, or an edge in one direction', () => {
  const rectangle = fc
    .tuple(fc.nat(5), fc.nat(5), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 4 }))
    .map(([x, y, width, height]) => ({ x, y, width, height }));
  let good = 0;
  fc.assert(
    fc.property(rectangle, rectangle, (first, second) => {
      const overlap =
        first.x < second.x + second.width &&
        second.x < first.x + first.width &&
        first.y < second.y + second.height &&
        second.y < first.y + first.height;
      const rings = [first, second].map(({ x, y, width, height }, part) =>
        ring(box(x, y, width, height), { part, path: `part ${part}` }),
      );
      expect(faultOf(rings) !== undefined).toBe(overlap);
      if (!overlap) good++;
    }),
    { numRuns: runs(2000) },
  );
  expect(good).toBeGreaterThan(runs(2000) / 8);
});

test('a hole is accepted exactly if it lies inside its shell and shares no edge with it', () => {
  const inner = fc.tuple(
    fc.integer({ min: -2, max: 8 }),
    fc.integer({ min: -2, max: 8 }),
    fc.integer({ min: 1, max: 4 }),
  );
  fc.assert(
    fc.property(inner, ([x, y, side]) => {
      const inside = x > 0 && y > 0 && x + side < 8 && y + side < 8;
      expect(faultOf([ring(box(0, 0, 8)), hole(box(x, y, side), 1)]) === undefined).toBe(inside);
    }),
    { numRuns: runs(1000) },
  );
});

/** The faults of rings. */
function faultOf(rings: readonly Ring[]): string | undefined {
  try {
    checkRings(rings);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

const POSITIONS = 5000;
const turn = (k: number, of: number) => (2 * Math.PI * k) / of;

/** Rings of as many positions as one boundary may have, in shapes that cost a careless sweep a lot. */
const shapes: Record<string, Ring[]> = {
  comb: [
    ring([
      ...Array.from(
        { length: POSITIONS - 2 },
        (_, k): Corner => [Math.floor(k / 2), k % 4 === 0 || k % 4 === 3 ? 1 : 1000],
      ),
      [POSITIONS / 2, 0],
      [0, 0],
    ]),
  ],
  'comb on its side': [
    ring([
      ...Array.from(
        { length: POSITIONS - 2 },
        (_, k): Corner => [k % 4 === 0 || k % 4 === 3 ? 1 : 1000, -Math.floor(k / 2)],
      ),
      [0, -POSITIONS / 2],
      [0, 0],
    ]),
  ],
  spiral: [
    ring([
      ...Array.from(
        { length: POSITIONS / 2 },
        (_, k): Corner => [(k + 10) * Math.cos(k / 10), (k + 10) * Math.sin(k / 10)],
      ),
      ...Array.from({ length: POSITIONS / 2 }, (_, n): Corner => {
        const k = POSITIONS / 2 - 1 - n;
        return [(k + 11) * Math.cos(k / 10), (k + 11) * Math.sin(k / 10)];
      }),
    ]),
  ],
  star: [
    ring(
      Array.from({ length: POSITIONS }, (_, k): Corner => {
        const radius = k % 2 === 0 ? 1 : 1000;
        return [radius * Math.cos(turn(k, POSITIONS)), radius * Math.sin(turn(k, POSITIONS))];
      }),
    ),
  ],
  'collinear positions': [
    ring([...Array.from({ length: POSITIONS - 1 }, (_, k): Corner => [k / 3, k / 7]), [0, 5000]]),
  ],
  'long edges next to one another': [
    ring([
      ...Array.from({ length: POSITIONS - 3 }, (_, k): Corner => {
        const level = Math.floor(k / 2) * Number.EPSILON;
        return [(k % 4 === 1 || k % 4 === 2 ? 1 : 0) + level, 1 + level];
      }),
      [-1, 1],
    ]),
  ],
  'holes side by side': [
    ring(box(0, 0, 1000)),
    ...Array.from({ length: 255 }, (_, k) =>
      hole(
        Array.from(
          { length: 18 },
          (_, n): Corner => [
            5 + 60 * (k % 16) + 20 * Math.cos(turn(n, 18)) + 20,
            30 + 60 * Math.floor(k / 16) + 20 * Math.sin(turn(n, 18)),
          ],
        ),
        k,
      ),
    ),
  ],
  'holes that touch in one point': [
    ring(box(-2000, -2000, 4000)),
    ...Array.from({ length: 90 }, (_, k) =>
      hole(
        [
          [0, 0],
          [1000 * Math.cos(turn(k, 90)), 1000 * Math.sin(turn(k, 90))],
          [1000 * Math.cos(turn(k + 0.5, 90)), 1000 * Math.sin(turn(k + 0.5, 90))],
        ],
        k,
      ),
    ),
  ],
  'two parts that share a side of many positions': [
    ring(
      [
        ...Array.from({ length: 2498 }, (_, k): Corner => [k, k % 2]),
        [2497, -10],
        [0, -10],
      ].reverse() as Corner[],
      { path: 'south' },
    ),
    ring([...Array.from({ length: 2498 }, (_, k): Corner => [k, k % 2]), [2497, 10], [0, 10]] as Corner[], {
      part: 1,
      path: 'north',
    }),
  ],
  'two parts that touch at every second position': [
    ring(
      [
        ...Array.from({ length: 2498 }, (_, k): Corner => [k, k % 2]),
        [2498, -10],
        [-1, -10],
      ].reverse() as Corner[],
      { path: 'south' },
    ),
    ring(
      [
        ...Array.from({ length: 2498 }, (_, k): Corner => [k, k % 2 === 0 ? 2 : 1]),
        [2498, 10],
        [-1, 10],
      ] as Corner[],
      { part: 1, path: 'north' },
    ),
  ],
};

describe('the largest boundaries', () => {
  test.each(Object.entries(shapes))('cost little in every shape: %s', (_name, rings) => {
    const positions = rings.reduce((sum, { line }) => sum + line.length / 2, 0);
    expect(positions).toBeLessThanOrEqual(POSITIONS + 2);
    const before = decided.sides;
    expect(
      faultOf(rings.map(ring => (areaOf(ring) > 0 === ring.hole ? backwards(ring) : ring))),
    ).toBeUndefined();
    // Comparing each edge with each would take 12 million; the sweep takes two or three logarithms for each.
    expect(decided.sides - before).toBeLessThan(150 * POSITIONS);
  });

  test('are not checked further after the first fault', () => {
    const comb = shapes.comb?.[0] as Ring;
    const line = comb.line.slice();
    [line[0], line[1]] = [0.5, 1];
    [line[2], line[3]] = [0.25, 700];
    [line[4], line[5]] = [0.5, 1];
    const before = decided.sides;
    expect(faultOf([{ ...comb, line: [...line.slice(0, -2), 0.5, 1] }])).toContain('touches itself');
    expect(decided.sides - before).toBeLessThan(1000);
  });

  test('touch in a bounded number of places', () => {
    const lens = (k: number): Corner[] => [
      [0, 0],
      ...Array.from({ length: 9 }, (_, n): Corner[] => [
        [10 * n + 5, k + 1],
        [10 * n + 10, 0],
      ]).flat(),
      ...Array.from({ length: 9 }, (_, m): Corner[] => {
        const n = 8 - m;
        return [[10 * n + 5, k + 1.5], ...(n > 0 ? [[10 * n, 0] as Corner] : [])];
      }).flat(),
    ];
    const rings = Array.from({ length: 120 }, (_, k) => ring(lens(k), { part: k, path: `part ${k}` }));
    expect(faultOf(rings)).toMatch(/touch in at most 20000 places|touches itself/);
  });
});

function areaOf({ line }: Ring): number {
  let sum = 0;
  for (let k = 0; k + 3 < line.length; k += 2) {
    sum += (line[k] as number) * (line[k + 3] as number) - (line[k + 2] as number) * (line[k + 1] as number);
  }
  return sum;
}

function backwards(ring: Ring): Ring {
  const line: number[] = [];
  for (let k = ring.line.length - 2; k >= 0; k -= 2)
    line.push(ring.line[k] as number, ring.line[k + 1] as number);
  return { ...ring, line };
}

/** Whether two edges of a ring share a point other than the corner between them, by looking at every two edges. */
function meetsItself(ring: readonly [number, number][]): boolean {
  const edges = ring.map(
    (from, index) => [from, ring[(index + 1) % ring.length] as [number, number]] as const,
  );
  return edges.some(([a, b], i) =>
    edges.some(([c, d], j) => {
      if (j <= i) return false;
      const next = j === i + 1;
      const around = i === 0 && j === edges.length - 1;
      const shared = next ? c : around ? a : undefined;
      return meetings(a, b, c, d).some(([x, y]) => !shared || x !== shared[0] || y !== shared[1]);
    }),
  );
}

type Point = readonly [number, number];

/** Points that two segments share: their ends on one another, and where their lines cross. */
function meetings(a: Point, b: Point, c: Point, d: Point): Point[] {
  const on = ([x, y]: Point, p: Point, q: Point) =>
    (q[0] - p[0]) * (y - p[1]) === (q[1] - p[1]) * (x - p[0]) &&
    (x - p[0]) * (x - q[0]) <= 0 &&
    (y - p[1]) * (y - q[1]) <= 0;
  const ends = [...[a, b].filter(point => on(point, c, d)), ...[c, d].filter(point => on(point, a, b))];
  const [rx, ry, sx, sy] = [b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]];
  const cross = rx * sy - ry * sx;
  if (cross === 0) return ends;
  const t = ((c[0] - a[0]) * sy - (c[1] - a[1]) * sx) / cross;
  const u = ((c[0] - a[0]) * ry - (c[1] - a[1]) * rx) / cross;
  const inside = t > 0 && t < 1 && u > 0 && u < 1;
  return inside ? [...ends, [a[0] + t * rx, a[1] + t * ry]] : ends;
}
