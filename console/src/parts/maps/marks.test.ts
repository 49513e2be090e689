import fc from 'fast-check';
import { expect, test } from 'vitest';
import { beside, type Counted, marksOf, radiusOf } from './marks.ts';
import { pixelOf, placeOf, TILE_SIDE } from './mercator.ts';

const things = fc.array(
  fc.record({
    lon: fc.double({ min: 29, max: 30, noNaN: true }),
    lat: fc.double({ min: -3, max: -2, noNaN: true }),
    count: fc.oneof(fc.constant(1), fc.integer({ min: 2, max: 5000 })),
  }),
  { maxLength: 120 },
);
const zooms = fc.double({ min: 1, max: 12, noNaN: true });

function closest(marks: readonly Counted[], zoom: number): number {
  const side = TILE_SIDE * 2 ** Math.floor(zoom);
  let least = Number.POSITIVE_INFINITY;
  for (const [index, one] of marks.entries()) {
    for (const other of marks.slice(index + 1)) {
      const [a, b] = [pixelOf(one.lon, one.lat, side), pixelOf(other.lon, other.lat, side)];
      const between = Math.hypot(a.x - b.x, a.y - b.y) - radiusOf(one.count) - radiusOf(other.count);
      least = Math.min(least, between);
    }
  }
  return least;
}

test('marks never overlap, and stand for everything', () => {
  fc.assert(
    fc.property(things, zooms, (all, zoom) => {
      const marks = marksOf(all, zoom);
      expect(closest(marks, zoom)).toBeGreaterThan(3.99);
      const members = marks.flatMap(mark => mark.members);
      expect(new Set(members)).toEqual(new Set(all));
      expect(members).toHaveLength(all.length);
      for (const { count, members: own } of marks) {
        expect(count).toBe(own.reduce((sum, one) => sum + one.count, 0));
      }
    }),
  );
});

test('what is far apart stays where it is, and what is at one place is one mark', () => {
  const [far, here] = [
    { lon: 29, lat: -2, count: 1, id: 'far' },
    { lon: 30, lat: -2, count: 1, id: 'here' },
  ];
  const marks = marksOf([far, here, { ...here, id: 'there' }], 15);
  expect(marks.map(({ count }) => count).sort()).toEqual([1, 2]);
  const one = marks.find(({ count }) => count === 1);
  expect([one?.lon, one?.lat]).toEqual([expect.closeTo(29, 9), expect.closeTo(-2, 9)]);
});

test('marks of fields move beside those of observations', () => {
  const observations = marksOf([{ lon: 30, lat: -2, count: 40 }], 8);
  const fields = marksOf([{ lon: 30.001, lat: -2, count: 3 }], 8);
  const moved = beside(fields, observations, 8);
  expect(closest([...observations, ...moved], 8)).toBeGreaterThan(3.99);
  expect(moved[0]?.members).toEqual(fields[0]?.members);
  const [away] = marksOf([{ lon: 31, lat: -2, count: 3 }], 8);
  expect(beside([away as NonNullable<typeof away>], observations, 8)[0]?.lon).toBeCloseTo(31, 9);
});

test('marks grow with the power of ten of their counts', () => {
  expect([1, 10, 1000, 1_000_000, 1e9].map(radiusOf)).toEqual([6, 13, 18, 26, 26]);
  expect(radiusOf(100)).toBeCloseTo(15.5);
});

test('a pixel is where its place is', () => {
  const { x, y } = pixelOf(29.5, -2.25, 4096);
  const { lon, lat } = placeOf(x, y, 4096);
  expect([lon, lat]).toEqual([expect.closeTo(29.5, 9), expect.closeTo(-2.25, 9)]);
});
