import { hash } from 'node:crypto';
import fc from 'fast-check';
import { S2LatLng, S2LatLngRect, S2RegionCoverer } from 'nodes2ts';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { leafCell } from '../../../geometry/cells.ts';
import type { Bounds } from '../../../geometry/covers.ts';
import { cornersGeoid, fieldGeoid, geoidOf, isGeoid, pointGeoid, pointGeoidV1 } from './geoid.ts';

/** The registry's rule with a library's region coverer, as the registry itself works it out. */
function libraryGeoid({ south, west, north, east }: Bounds, level: number): string {
  const from = S2LatLng.fromDegrees(south, west);
  const to = S2LatLng.fromDegrees(north, east > 180 ? east - 360 : east);
  const coverer = new S2RegionCoverer().setMinLevel(level).setMaxLevel(level);
  const cells = coverer.getCoveringCells(S2LatLngRect.fromPointPair(from, to));
  return hash('sha256', cells.map(cell => cell.toToken()).join(''), 'hex');
}

const VECTORS: [lat: number, lon: number, geoid: string][] = [
  [30.90706, 74.78209, '8c5c1d6ae4c50c574a05b44c0af6797c2001f518a35116c4642bd48edf769024'],
  [29.92052, 75.77439, 'a28da121245cee30b3c901b00d62ba61855c82d0abca5dfb219ca16ac00aef2b'],
  [40.7128, -74.006, '60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33'],
];

/** The bounding box of the first polygon in the README of the public registry. */
const README_BOX = {
  south: 30.31070505582999,
  west: 76.88841819763184,
  north: 30.311450431756946,
  east: 76.88945889472961,
};

/** Evenly spread between ±limit, and now and then where cells begin. */
function degrees(limit: number) {
  return fc.oneof(
    { weight: 4, arbitrary: fc.maxSafeInteger().map(n => (n / Number.MAX_SAFE_INTEGER) * limit) },
    { weight: 1, arbitrary: fc.constantFrom(0, 45, -45, 90, -90, limit, -limit) },
  );
}

const box = fc
  .record({
    south: degrees(85).filter(south => Math.abs(south) <= 85),
    west: fc.oneof(degrees(180), fc.double({ min: 179.99, max: 180, noNaN: true })),
    // On the date line itself the library finds no cells for boxes that are narrower than rounding.
    height: fc.double({ min: 0.001, max: 1, noNaN: true }),
    width: fc.double({ min: 0.001, max: 1, noNaN: true }),
    scale: fc.constantFrom(0.01, 0.003, 0.0005, 0.00005),
  })
  .map(({ south, west, height, width, scale }) => ({
    south,
    west,
    north: south + height * scale,
    east: west + width * scale,
  }));

describe('GeoIDs', () => {
  test('are the SHA-256 over cell tokens, in the form that everybody checks', () => {
    expect(geoidOf(['390fb43c'])).toBe('0d8b4afb3b3332f75cf5b1889b0564a9e7a80f4bad239a9a593e1665210c3079');
    expect(geoidOf(['390fed0c', '390feda4'])).toBe(
      'ec98fbbf91e80a274a4481757fa2d20ead2f0029648a19a4a453d33f4078411b',
    );
    expect(isGeoid(geoidOf([]))).toBe(true);
    for (const other of ['', 'a'.repeat(63), 'A'.repeat(64), `${'a'.repeat(64)}\n`, 7, null, undefined]) {
      expect(isGeoid(other)).toBe(false);
    }
  });

  test.each(VECTORS)('of the point at %f, %f is the registry’s', (lat, lon, geoid) => {
    expect(pointGeoid(leafCell(lat, lon))).toBe(geoid);
    expect(pointGeoidV1(lat, lon)).toBe(geoid);
  });

  test('of the field in the registry’s README is the one printed there', async () => {
    expect(await fieldGeoid(README_BOX, 13)).toBe(
      '0d8b4afb3b3332f75cf5b1889b0564a9e7a80f4bad239a9a593e1665210c3079',
    );
  });

  test('of points by v1 are what the library’s cover gives, everywhere on the sphere', () => {
    const point = fc.tuple(degrees(90), degrees(180));
    fc.assert(
      fc.property(point, ([lat, lon]) => {
        const single = { south: lat, west: lon, north: lat, east: lon };
        expect(pointGeoidV1(lat, lon)).toBe(libraryGeoid(single, 30));
      }),
      { numRuns: runs(5_000) },
    );
  });

  test('of points by v1 differ from the leaf cell’s for about a third of all points', () => {
    const points = Array.from(
      { length: 2_000 },
      (_, k) => [Math.sin(k) * 80, Math.sin(k * 7.7) * 180] as const,
    );
    const differing = points.filter(
      ([lat, lon]) => pointGeoidV1(lat, lon) !== pointGeoid(leafCell(lat, lon)),
    );
    expect(differing.length).toBeGreaterThan(400);
    expect(differing.length).toBeLessThan(1_000);
  });
});

describe('GeoIDs of fields', () => {
  test('are what the library’s covers give, also across the date line', async () => {
    await fc.assert(
      fc.asyncProperty(box, async bounds => {
        expect(await fieldGeoid(bounds, 13)).toBe(libraryGeoid(bounds, 13));
      }),
      { numRuns: runs(3_000) },
    );
    await fc.assert(
      fc.asyncProperty(
        box.filter(({ south, north }) => north - south < 0.002),
        async bounds => {
          expect(await fieldGeoid(bounds, 20)).toBe(libraryGeoid(bounds, 20));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test('by their corners depend on every corner and on their order', () => {
    const geoid = cornersGeoid([76, 30, 76.01, 30, 76, 30.01]);
    expect(isGeoid(geoid)).toBe(true);
    expect(cornersGeoid([76, 30, 76.01, 30, 76, 30.01])).toBe(geoid);
    expect(cornersGeoid([76.01, 30, 76, 30, 76, 30.01])).not.toBe(geoid);
    expect(cornersGeoid([76, 30, 76.01, 30, 76, 30.02])).not.toBe(geoid);
  });
});
