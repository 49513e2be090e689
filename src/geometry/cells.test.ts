import fc from 'fast-check';
import { S2CellId, S2LatLng } from 'nodes2ts';
import { s2 } from 's2js';
import { describe, expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { cellIndex, cellToken, leafCell, leafToken } from './cells.ts';

/** Where faces, their halves and the ends of the coordinates meet; the latitude of a cube's corner among them. */
const CORNER = (Math.atan(Math.SQRT1_2) * 180) / Math.PI;
const EDGES = [0, -0, 45, 90, 135, 180, CORNER].flatMap(degrees => [degrees, -degrees]);

/** Evenly spread between ±limit; fast-check's own doubles crowd around zero and the limits, which we want too. */
function degrees(limit: number) {
  return fc.oneof(
    { weight: 3, arbitrary: fc.maxSafeInteger().map(n => (n / Number.MAX_SAFE_INTEGER) * limit) },
    {
      weight: 1,
      arbitrary: fc.integer({ min: -limit * 1e6, max: limit * 1e6 }).map(millionths => millionths / 1e6),
    },
    { weight: 1, arbitrary: fc.double({ min: -limit, max: limit, noNaN: true }) },
    { weight: 1, arbitrary: fc.constantFrom(...EDGES.filter(edge => Math.abs(edge) <= limit)) },
  );
}
const point = fc.tuple(degrees(90), degrees(180));

const RUNS = { numRuns: runs(20_000) };

describe('a point and its S2 cells', () => {
  test('the registry’s vectors come out', () => {
    expect(leafToken(leafCell(30.90706, 74.78209))).toBe('3919f0018ce1a221');
    expect(leafToken(leafCell(29.92052, 75.77439))).toBe('3911a63af99d6bf7');
    const newYork = leafCell(40.7128, -74.006);
    expect(leafToken(newYork)).toBe('89c25a220cf80969');
    expect(cellToken(cellIndex(newYork, 20), 20)).toBe('89c25a220cf');
    expect(cellToken(cellIndex(newYork, 13), 13)).toBe('89c25a24');
  });

  test('any point of the sphere has the leaf cell that nodes2ts finds', () => {
    fc.assert(
      fc.property(point, ([lat, lon]) => {
        const cell = S2CellId.fromPoint(S2LatLng.fromDegrees(lat, lon).toPoint());
        expect(leafToken(leafCell(lat, lon))).toBe(cell.toToken());
      }),
      RUNS,
    );
  });

  test('any point of the sphere has the leaf cell that s2js finds', () => {
    fc.assert(
      fc.property(point, ([lat, lon]) => {
        const cell = s2.cellid.fromLatLng(s2.LatLng.fromDegrees(lat, lon));
        expect(leafToken(leafCell(lat, lon))).toBe(s2.cellid.toToken(cell));
      }),
      RUNS,
    );
  });

  test('every edge and corner of the faces has the cell that nodes2ts finds', () => {
    for (const lat of EDGES.filter(degrees => Math.abs(degrees) <= 90)) {
      for (const lon of EDGES) {
        const cell = S2CellId.fromPoint(S2LatLng.fromDegrees(lat, lon).toPoint());
        expect(leafToken(leafCell(lat, lon)), `${lat}, ${lon}`).toBe(cell.toToken());
      }
    }
  });

  test('its ancestors are those of nodes2ts, numbered in the order of their ids', () => {
    fc.assert(
      fc.property(
        point,
        point,
        fc.integer({ min: 0, max: 20 }),
        ([lat, lon], [otherLat, otherLon], level) => {
          const cell = S2CellId.fromPoint(S2LatLng.fromDegrees(lat, lon).toPoint()).parentL(level);
          const other = S2CellId.fromPoint(S2LatLng.fromDegrees(otherLat, otherLon).toPoint()).parentL(level);
          const index = cellIndex(leafCell(lat, lon), level);
          const otherIndex = cellIndex(leafCell(otherLat, otherLon), level);
          expect(cellToken(index, level)).toBe(cell.toToken());
          expect(Math.sign(index - otherIndex)).toBe(cell.compareTo(other));
          expect(Number.isSafeInteger(index)).toBe(true);
        },
      ),
      { numRuns: runs(5_000) },
    );
  });
});
