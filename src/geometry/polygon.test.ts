import fc from 'fast-check';
import { S2CellId, S2LatLng, S2LatLngRect, S2RegionCoverer } from 'nodes2ts';
import { describe, expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { ringArea } from './area.ts';
import { readBoundary } from './boundary.ts';
import { cellIndex, cellToken, leafCell } from './cells.ts';
import { type CellSet, coverCells, eachCell, jaccard } from './covers.ts';
import { contains, type Ground, groundRegion, interiorPoint } from './polygon.ts';

type Ring = [lon: number, lat: number][];

/** Coordinates are whole numbers of this, a power of two, so that shifting them by whole degrees loses nothing. */
const STEP = 2 ** -22;
const snap = (degrees: number) => Math.round(degrees / STEP) * STEP;

const closed = (ring: Ring): Ring => [...ring, ring[0] as [number, number]];
const polygon = (...rings: Ring[]) =>
  readBoundary({ type: 'Polygon', coordinates: rings.map(closed) }, 'geometry');
const moved = (ring: Ring, lon: number, lat = 0): Ring => ring.map(([x, y]) => [x + lon, y + lat]);
/** A longitude as GeoJSON has it, between −180 and 180. */
const wrapped = (lon: number) => (lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon);

/** Corners around (0, 0), one in each direction in turn, which no edge of another direction can cross. */
function star(radius: number) {
  return fc.array(fc.double({ min: 0.2, max: 1, noNaN: true }), { minLength: 3, maxLength: 24 }).map(radii =>
    radii.map((length, k): [number, number] => {
      const angle = (2 * Math.PI * (k + 0.3)) / radii.length;
      return [snap(radius * length * Math.cos(angle)), snap(radius * length * Math.sin(angle))];
    }),
  );
}

/** A star with a hole that leaves a rim: a smaller copy of itself, or of another star inside the smallest radius. */
const withHole = star(0.01).map(ring => ({
  ring,
  hole: ring.map(([x, y]): [number, number] => [snap(x / 4), snap(y / 4)]),
}));

const location = fc.record({
  lon: fc.integer({ min: -179, max: 179 }),
  lat: fc.integer({ min: -80, max: 80 }),
});
const offset = fc.tuple(
  fc.double({ min: -0.012, max: 0.012, noNaN: true }).map(snap),
  fc.double({ min: -0.012, max: 0.012, noNaN: true }).map(snap),
);

/** How often the ring winds around the point, by adding up the angles under which it sees the edges. */
function windings(ring: Ring, [x, y]: readonly [number, number]): number {
  let angle = 0;
  for (const [k, [ax, ay]] of ring.entries()) {
    const [bx, by] = ring[(k + 1) % ring.length] as [number, number];
    angle += Math.atan2((ax - x) * (by - y) - (ay - y) * (bx - x), (ax - x) * (bx - x) + (ay - y) * (by - y));
  }
  return Math.round(angle / (2 * Math.PI));
}

/** The distance in degrees from a point to the nearest edge. */
function distanceTo(ring: Ring, [x, y]: readonly [number, number]): number {
  return Math.min(
    ...ring.map(([ax, ay], k) => {
      const [bx, by] = ring[(k + 1) % ring.length] as [number, number];
      const [dx, dy] = [bx - ax, by - ay];
      const t = Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy)));
      return Math.hypot(ax + t * dx - x, ay + t * dy - y);
    }),
  );
}

describe('a point in a field', () => {
  test('is inside when the outer ring winds around it and the hole does not', () => {
    fc.assert(
      fc.property(withHole, offset, ({ ring, hole }, point) => {
        fc.pre(distanceTo(ring, point) > 1e-9 && distanceTo(hole, point) > 1e-9);
        const expected = windings(ring, point) !== 0 && windings(hole, point) === 0;
        expect(contains(polygon(ring, hole), point[1], point[0])).toBe(expected);
      }),
      { numRuns: runs(3_000) },
    );
  });

  test('stays inside or outside, wherever rings start and whichever way they run', () => {
    fc.assert(
      fc.property(
        withHole,
        offset,
        fc.nat(30),
        fc.boolean(),
        fc.boolean(),
        ({ ring, hole }, [x, y], start, a, b) => {
          const expected = contains(polygon(ring, hole), y, x);
          const turned = (ring: Ring, back: boolean): Ring => {
            const at = start % ring.length;
            const rotated = [...ring.slice(at), ...ring.slice(0, at)];
            return back ? rotated.reverse() : rotated;
          };
          expect(contains(polygon(turned(ring, a), turned(hole, b)), y, x)).toBe(expected);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  test('stays inside or outside when the field moves across the date line', () => {
    fc.assert(
      fc.property(withHole, offset, ({ ring, hole }, [x, y]) => {
        const expected = contains(polygon(ring, hole), y, x);
        for (const lon of [180, -180, 179.9921875]) {
          const across = (ring: Ring): Ring => moved(ring, lon).map(([px, py]) => [wrapped(px), py]);
          expect(contains(polygon(across(ring), across(hole)), y, wrapped(x + lon))).toBe(expected);
        }
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('a point of a field', () => {
  test('on the date line is one of a ring that jumps across, and of the same ground in two parts', () => {
    const west: Ring = [
      [179.99, 10],
      [180, 10],
      [180, 10.01],
      [179.99, 10.01],
    ];
    const east: Ring = [
      [-180, 10],
      [-179.99, 10],
      [-179.99, 10.01],
      [-180, 10.01],
    ];
    const inTwo = readBoundary({ type: 'MultiPolygon', coordinates: [[closed(east)], [closed(west)]] }, 'g');
    const inOne = polygon([
      [179.99, 10],
      [-179.99, 10],
      [-179.99, 10.01],
      [179.99, 10.01],
    ]);
    expect(inTwo.bounds).toEqual(inOne.bounds);
    expect(inTwo.areaM2).toBeCloseTo(inOne.areaM2, 3);
    for (const ground of [inTwo, inOne]) {
      for (const lon of [179.995, 180, -180, -179.995, 179.99, -179.99])
        expect(contains(ground, 10.005, lon)).toBe(true);
      for (const lon of [179.98, -179.98, 0]) expect(contains(ground, 10.005, lon)).toBe(false);
    }
  });

  test('on the boundary, of a hole too, is inside, exactly', () => {
    fc.assert(
      fc.property(
        withHole,
        location,
        fc.nat(100),
        fc.nat(8),
        ({ ring, hole }, { lon, lat }, edge, eighth) => {
          const ground = polygon(moved(ring, lon, lat), moved(hole, lon, lat));
          for (const line of [ring, hole]) {
            const corners = moved(line, lon, lat);
            const [ax, ay] = corners[edge % corners.length] as [number, number];
            const [bx, by] = corners[(edge + 1) % corners.length] as [number, number];
            // Eighths of an edge between multiples of STEP are doubles without rounding.
            expect(contains(ground, ay + ((by - ay) * eighth) / 8, ax + ((bx - ax) * eighth) / 8)).toBe(true);
          }
        },
      ),
      { numRuns: runs(100) },
    );
  });

  test('between two fields that share a fence is in one of them, and in both on the fence', () => {
    fc.assert(
      fc.property(star(0.01), location, offset, (ring, { lon, lat }, [x, y]) => {
        fc.pre(ring.length >= 4);
        const corners = moved(ring, lon, lat);
        const cut = Math.floor(ring.length / 2);
        const middle: [number, number] = [lon, lat];
        const half = polygon([middle, ...corners.slice(0, cut + 1)]);
        const other = polygon([middle, ...corners.slice(cut), corners[0] as [number, number]]);
        const whole = polygon(corners);
        const inOne = contains(half, lat + y, lon + x);
        const inOther = contains(other, lat + y, lon + x);
        expect(inOne || inOther).toBe(contains(whole, lat + y, lon + x));
        expect(contains(half, lat, lon) && contains(other, lat, lon)).toBe(true);
        expect(half.areaM2 + other.areaM2).toBeCloseTo(whole.areaM2, 2);
      }),
      { numRuns: runs(100) },
    );
  });
});

describe('the point that stands for a field', () => {
  test('lies inside it and off its boundary', () => {
    fc.assert(
      fc.property(withHole, location, ({ ring, hole }, { lon, lat }) => {
        const rings = [moved(ring, lon, lat), moved(hole, lon, lat)] as const;
        const point = interiorPoint(polygon(...rings));
        expect(contains(polygon(...rings), point[1], point[0])).toBe(true);
        expect(Math.min(...rings.map(ring => distanceTo(ring, point)))).toBeGreaterThan(0);
      }),
      { numRuns: runs(100) },
    );
    const [lon] = interiorPoint(
      polygon([
        [179.99, 10],
        [-179.97, 10],
        [-179.97, 10.01],
        [179.99, 10.01],
      ]),
    );
    expect(lon).toBeCloseTo(-179.99, 9);
  });
});

const cellsOf = (ground: Ground, level: number) => coverCells(groundRegion(ground), level) as CellSet;

describe('the cells of a field', () => {
  test('hold every point of it, whatever their level', () => {
    fc.assert(
      fc.property(
        withHole,
        location,
        offset,
        fc.integer({ min: 8, max: 20 }),
        ({ ring, hole }, { lon, lat }, [x, y], level) => {
          const ground = polygon(moved(ring, lon, lat), moved(hole, lon, lat));
          const cells = new Set(eachCell(cellsOf(ground, level)));
          const corner = moved(ring, lon, lat)[0] as [number, number];
          for (const [px, py] of [[lon + x, lat + y], corner] as const) {
            if (contains(ground, py, px)) expect(cells.has(cellIndex(leafCell(py, px), level))).toBe(true);
          }
        },
      ),
      { numRuns: runs(300) },
    );
  });

  test('also hold every point of a field on the date line or next to a face of the cube', () => {
    fc.assert(
      fc.property(
        star(0.005),
        offset,
        fc.constantFrom(180, -180, 45, 135, -45, 0),
        fc.constantFrom(0, 45, 35.264, -45, 88.9),
        (ring, [x, y], lon, lat) => {
          const corners = moved(ring, lon, snap(lat)).map(([px, py]): [number, number] => [wrapped(px), py]);
          const ground = polygon(corners);
          const [px, py] = [wrapped(lon + x / 2), snap(lat) + y / 2];
          fc.pre(contains(ground, py, px));
          const cells = new Set(eachCell(cellsOf(ground, 16)));
          expect(cells.has(cellIndex(leafCell(py, px), 16))).toBe(true);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  test('are none of those that lie a cell’s length away', () => {
    fc.assert(
      fc.property(withHole, location, ({ ring, hole }, { lon, lat }) => {
        const ground = polygon(moved(ring, lon, lat), moved(hole, lon, lat));
        const ends = [ring, hole].map(line => moved(line, lon, lat));
        for (const index of eachCell(cellsOf(ground, 18))) {
          const centre = new S2CellId((BigInt(index) * 2n + 1n) << 24n).toLatLng();
          const at = [centre.lngDegrees, centre.latDegrees] as const;
          const near = Math.min(...ends.map(ring => distanceTo(ring, at)));
          // A level-18 cell measures less than 60 metres, which is wider in degrees of longitude up north.
          const reach = 0.0006 / Math.cos((lat * Math.PI) / 180);
          expect(contains(ground, at[1], at[0]) || near < reach).toBe(true);
        }
      }),
      { numRuns: runs(50) },
    );
  });
});

describe('sets of cells', () => {
  test('are the library’s cover for an upright rectangle, with cells that it touches from outside by less than rounding', () => {
    const side = fc.double({ min: 0.0001, max: 0.003, noNaN: true });
    const coverer = new S2RegionCoverer().setMinLevel(20).setMaxLevel(20);
    const covered = (west: number, south: number, east: number, north: number) => {
      const corners = [S2LatLng.fromDegrees(south, west), S2LatLng.fromDegrees(north, east)] as const;
      return new Set(
        coverer.getCoveringCells(S2LatLngRect.fromPointPair(...corners)).map(cell => cell.toToken()),
      );
    };
    fc.assert(
      fc.property(location, offset, side, side, ({ lon, lat }, [x, y], width, height) => {
        const [west, south] = [lon + x, lat + y];
        const [east, north] = [west + width, south + height];
        const ground = polygon([
          [west, south],
          [east, south],
          [east, north],
          [west, north],
        ]);
        const tokens = Array.from(eachCell(cellsOf(ground, 20)), index => cellToken(index, 20));
        expect(covered(west, south, east, north).isSubsetOf(new Set(tokens))).toBe(true);
        // A cell is widened by a billionth of a degree before it is compared.
        const wider = covered(west - 2e-9, south - 2e-9, east + 2e-9, north + 2e-9);
        expect(tokens.filter(token => !wider.has(token))).toEqual([]);
        expect(tokens).toEqual([...new Set(tokens)].sort());
      }),
      { numRuns: runs(100), examples: [[{ lon: -119, lat: -80 }, [0, 0], 0.0001, 0.0001]] },
    );
  });

  test('agree as sets do', () => {
    const level = 20;
    const set = fc.uniqueArray(fc.nat(60), { minLength: 1, maxLength: 40 }).map(cells => {
      const sorted = cells.sort((a, b) => a - b);
      return {
        cells: new Set(sorted),
        set: { level, runs: sorted.flatMap(cell => [cell, cell + 1]), count: sorted.length },
      };
    });
    fc.assert(
      fc.property(set, set, (first, second) => {
        const shared = first.cells.intersection(second.cells).size;
        expect(jaccard(first.set, second.set)).toBeCloseTo(shared / first.cells.union(second.cells).size, 12);
      }),
      { numRuns: runs(100) },
    );
  });

  test('are dropped when there are more than requested', () => {
    const ground = polygon([
      [76, 30],
      [76.01, 30],
      [76.01, 30.01],
      [76, 30.01],
    ]);
    const count = coverCells(groundRegion(ground), 18)?.count ?? 0;
    expect(coverCells(groundRegion(ground), 18, { limit: count })?.count).toBe(count);
    expect(coverCells(groundRegion(ground), 18, { limit: count - 1 })).toBeUndefined();
  });
});

describe('the area of a field', () => {
  const A = 6_378_137;
  const F = 1 / 298.257_223_563;
  const E2 = F * (2 - F);

  /** Square metres of a polygon by cutting it into thin level strips of the ellipsoid. */
  function strips(ring: Ring, count: number): number {
    const [low, high] = [Math.min(...ring.map(([, y]) => y)), Math.max(...ring.map(([, y]) => y))];
    let area = 0;
    for (let k = 0; k < count; k++) {
      const lat = low + ((k + 0.5) * (high - low)) / count;
      const crossings = ring
        .flatMap(([ax, ay], index) => {
          const [bx, by] = ring[(index + 1) % ring.length] as [number, number];
          return ay > lat !== by > lat ? [ax + ((lat - ay) / (by - ay)) * (bx - ax)] : [];
        })
        .sort((a, b) => a - b);
      const width = crossings.reduce((sum, x, index) => sum + (index % 2 === 0 ? -x : x), 0);
      const sin = Math.sin((lat * Math.PI) / 180);
      // Radii of curvature along the meridian and across it (Snyder 1987, equations 4-18 and 4-20).
      const along = (A * (1 - E2)) / (1 - E2 * sin * sin) ** 1.5;
      const across = (A / Math.sqrt(1 - E2 * sin * sin)) * Math.cos((lat * Math.PI) / 180);
      area += along * across * ((width * Math.PI) / 180) * ((((high - low) / count) * Math.PI) / 180);
    }
    return area;
  }

  test('of half the Earth is half of the ellipsoid’s', () => {
    expect(ringArea([-180, 0, 180, 0, 180, 90, -180, 90, -180, 0])).toBeCloseTo(510_065_621_724_088 / 2, -2);
  });

  test('is what thin strips of the ellipsoid add up to', () => {
    fc.assert(
      fc.property(star(0.01), location, (ring, { lon, lat }) => {
        const corners = moved(ring, lon, lat);
        const expected = strips(corners, 4_000);
        expect(Math.abs(polygon(corners).areaM2 / expected - 1)).toBeLessThan(1e-3);
      }),
      { numRuns: runs(100) },
    );
  });

  test('lacks what its holes take', () => {
    fc.assert(
      fc.property(withHole, location, ({ ring, hole }, { lon, lat }) => {
        const [outer, inner] = [moved(ring, lon, lat), moved(hole, lon, lat)];
        const expected = polygon(outer).areaM2 - polygon(inner).areaM2;
        expect(polygon(outer, inner).areaM2).toBeCloseTo(expected, 3);
      }),
      { numRuns: runs(100) },
    );
  });
});
