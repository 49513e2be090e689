import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { isBetween, meeting, orientation } from './predicates.ts';

/** A double as an exact fraction over a power of two, by another way than the code's: repeated doubling. */
function fraction(value: number): { top: bigint; shift: number } {
  let shift = 0;
  let scaled = value;
  while (!Number.isInteger(scaled)) {
    scaled *= 2;
    shift++;
  }
  return { top: BigInt(scaled), shift };
}

function exactSign(...values: [number, number, number, number, number, number]): number {
  const parts = values.map(fraction);
  const most = Math.max(...parts.map(({ shift }) => shift));
  const [ax, ay, bx, by, cx, cy] = parts.map(({ top, shift }) => top << BigInt(most - shift)) as [
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
    bigint,
  ];
  const area = (ax - cx) * (by - cy) - (ay - cy) * (bx - cx);
  return area > 0n ? 1 : area < 0n ? -1 : 0;
}

type Segment = [ax: number, ay: number, bx: number, by: number];

const degrees = fc.double({ min: -180, max: 180, noNaN: true });
/** Numbers that repeat, so that equal and aligned coordinates come up often. */
const coarse = fc.integer({ min: -4, max: 4 });
/** Points on or within an ulp of a line: where rounding decides unless one computes exactly. */
const nearLine = fc
  .record({
    a: fc.tuple(degrees, degrees),
    b: fc.tuple(degrees, degrees),
    t: fc.double({ min: -0.5, max: 1.5, noNaN: true }),
    ulps: fc.integer({ min: -3, max: 3 }),
  })
  .map(({ a: [ax, ay], b: [bx, by], t, ulps }) => {
    const y = ay + t * (by - ay);
    return [ax, ay, bx, by, ax + t * (bx - ax), y + ulps * Number.EPSILON * Math.abs(y)] as const;
  });

describe('the side of a line that a point lies on', () => {
  test('is exact for points next to the line', () => {
    fc.assert(
      fc.property(nearLine, line => {
        expect(Math.sign(orientation(...line))).toBe(exactSign(...line));
      }),
      { numRuns: runs(5_000) },
    );
  });

  test('is exact for coordinates of every size down to the smallest double', () => {
    const any = fc.oneof(coarse, degrees, fc.double({ min: -1e-300, max: 1e-300, noNaN: true }));
    fc.assert(
      fc.property(any, any, any, any, any, any, (...line) => {
        expect(Math.sign(orientation(...line)) + 0).toBe(exactSign(...line));
      }),
      { numRuns: runs(3_000) },
    );
  });

  test('changes with the direction of the line and not with its beginning', () => {
    fc.assert(
      fc.property(nearLine, ([ax, ay, bx, by, cx, cy]) => {
        const side = Math.sign(orientation(ax, ay, bx, by, cx, cy));
        expect(Math.sign(orientation(bx, by, ax, ay, cx, cy)) + 0).toBe(-side + 0);
        expect(Math.sign(orientation(bx, by, cx, cy, ax, ay))).toBe(side);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('how two segments meet', () => {
  const cases: [how: string, first: Segment, second: Segment][] = [
    ['crossing', [0, 0, 2, 2], [0, 2, 2, 0]],
    ['touching', [0, 0, 2, 0], [1, 0, 1, 1]],
    ['touching', [0, 0, 2, 0], [2, 0, 3, 1]],
    ['touching', [0, 0, 1, 1], [1, 1, 2, 2]],
    ['overlapping', [0, 0, 2, 0], [1, 0, 3, 0]],
    ['overlapping', [0, 0, 0, 2], [0, 1, 0, 3]],
    ['overlapping', [0, 0, 3, 3], [1, 1, 2, 2]],
    ['apart', [0, 0, 1, 1], [2, 2, 3, 3]],
    ['apart', [0, 0, 1, 0], [0, 1, 1, 1]],
    ['apart', [0, 0, 4, 0], [1, 1, 1, 3]],
  ];

  test.each(cases)('%s: %j and %j', (how, first, second) => {
    expect(meeting(...first, ...second)).toBe(how);
  });

  test('is the same from either segment and either end', () => {
    const segment = fc
      .tuple(coarse, coarse, coarse, coarse)
      .filter(([ax, ay, bx, by]) => ax !== bx || ay !== by);
    fc.assert(
      fc.property(segment, segment, (first, second) => {
        const how = meeting(...first, ...second);
        const [ax, ay, bx, by] = first;
        expect(meeting(...second, ...first)).toBe(how);
        expect(meeting(bx, by, ax, ay, ...second)).toBe(how);
      }),
      { numRuns: runs(3_000) },
    );
  });

  test('agrees with counting common points of a grid', () => {
    const segment = fc
      .tuple(coarse, coarse, coarse, coarse)
      .filter(([ax, ay, bx, by]) => ax !== bx || ay !== by);
    fc.assert(
      fc.property(segment, segment, (first, second) => {
        const ends = [first, second].flatMap(([ax, ay, bx, by]) => [[ax, ay] as const, [bx, by] as const]);
        const isOn = ([ax, ay, bx, by]: typeof first, [x, y]: readonly [number, number]) =>
          exactSign(ax, ay, bx, by, x, y) === 0 && isBetween(ax, ay, bx, by, x, y);
        const common = new Set(ends.filter(end => isOn(first, end) && isOn(second, end)).map(String));
        const how = meeting(...first, ...second);
        if (how === 'overlapping') expect(common.size).toBe(2);
        if (how === 'touching') expect(common.size).toBe(1);
        if (how === 'crossing' || how === 'apart') expect(common.size).toBe(0);
      }),
      { numRuns: runs(3_000) },
    );
  });
});
