import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { decodeTile } from '../../../../test/helpers/tiles.ts';
import { boxOf, EDGE_LATITUDE, project, SIDE, squareOf } from './mercator.ts';
import { outlineIn } from './outlines.ts';
import { type Feature, vectorTile } from './vector-tile.ts';

const coordinate = fc.integer({ min: -5000, max: 9000 });
const position = fc.tuple(coordinate, coordinate);
const value = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter(number => !Object.is(number, -0)),
);
const properties = fc.dictionary(fc.string({ unit: 'binary', minLength: 1 }), value, {
  noNullPrototype: true,
});
const feature = fc.record({ geometry: fc.record({ point: position }), properties });

test('points and their properties are read by other programs as they were written', () => {
  const layers = fc.dictionary(
    fc.string({ minLength: 1 }),
    fc.array(feature, { minLength: 1, maxLength: 40 }),
    {
      minKeys: 1,
      maxKeys: 3,
      noNullPrototype: true,
    },
  );
  const property = fc.property(layers, made => {
    const read = decodeTile(vectorTile(made), [0, 0, 0]);
    expect(read.map(({ layer, positions, properties }) => ({ layer, positions, properties }))).toEqual(
      Object.entries(made).flatMap(([layer, features]) =>
        features.map(({ geometry, properties }) => ({ layer, positions: [[geometry.point]], properties })),
      ),
    );
  });
  fc.assert(property, { numRuns: runs(100) });
});

test('a tile without features has no bytes', () => {
  expect(vectorTile({ observations: [] })).toHaveLength(0);
});

test('the box of a tile holds every position of the tile', () => {
  const tile = fc.integer({ min: 0, max: 22 }).chain(z => {
    const number = fc.nat({ max: 2 ** z - 1 });
    return fc.record({ z: fc.constant(z), x: number, y: number });
  });
  const degrees = fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  const property = fc.property(tile, degrees, ({ z }, { lat, lon }) => {
    const { x, y } = project(lat, lon);
    const inside = (units: number) => Math.max(0, Math.min(SIDE - 1, Math.floor(units)));
    const size = SIDE / 2 ** z;
    const of = { z, x: Math.floor(inside(x) / size), y: Math.floor(inside(y) / size) };
    const { west, south, east, north } = boxOf(of);
    expect([lon >= west, lon <= east, lat >= south, lat <= north]).toEqual([true, true, true, true]);
    expect(squareOf(of).x).toBeLessThanOrEqual(inside(x));
  });
  fc.assert(property, { numRuns: runs(2000) });
});

const square = (west: number, south: number, width: number) => [
  [west, south],
  [west + width, south],
  [west + width, south + width],
  [west, south + width],
  [west, south],
];

const read = (rings: ReturnType<typeof outlineIn>, [z, x, y]: readonly [number, number, number]) => {
  const drawn: Feature = { geometry: { rings }, properties: {} };
  return decodeTile(vectorTile({ fields: [drawn] }), [z, x, y])[0];
};

test('a polygon within a tile keeps its corners and holes', () => {
  const outer = square(10.001, 50.001, 0.004);
  const hole = square(10.002, 50.002, 0.001);
  const address = [14, 8647, 5556] as const;
  const [z, x, y] = address;
  for (const ring of [outer, outer.toReversed()]) {
    const rings = outlineIn({ z, x, y }, { type: 'Polygon', coordinates: [ring, hole] });
    const geometry = read(rings, address)?.geometry;
    const coordinates = geometry?.coordinates as number[][][];
    expect(geometry?.type).toBe('Polygon');
    expect(coordinates.map(line => line.length)).toEqual([5, 5]);
    for (const [index, of] of [outer, hole].entries()) {
      for (const [lon, lat] of of as [number, number][]) {
        const near = (coordinates[index] as number[][]).some(
          ([a = 0, b = 0]) => Math.abs(a - lon) < 1e-5 && Math.abs(b - lat) < 1e-5,
        );
        expect(near, `${lon}, ${lat}`).toBe(true);
      }
    }
  }
});

test('several tiles together show the polygon, cut at their edges', () => {
  const size = fc.double({ min: 0.001, max: 0.05, noNaN: true });
  const corner = fc.record({
    west: fc.double({ min: -180, max: 179.9, noNaN: true }),
    south: fc.double({ min: -80, max: 80, noNaN: true }),
  });
  const property = fc.property(corner, size, ({ west, south }, width) => {
    const geometry = { type: 'Polygon', coordinates: [square(west, south, width)] };
    const z = 14;
    const tiles = 2 ** z;
    const from = project(south + width, west);
    const to = project(south, west + width);
    const column = (units: number) => Math.floor(units / (SIDE / tiles));
    let area = 0;
    for (let x = column(from.x); x <= column(to.x); x++) {
      for (let y = column(from.y); y <= column(to.y); y++) {
        for (const ring of outlineIn({ z, x: x % tiles, y }, geometry)) area += areaWithin(ring);
      }
    }
    const unit = SIDE / tiles / 4096;
    const exact = ((to.x - from.x) / unit) * ((to.y - from.y) / unit);
    // Half a unit of rounding along each edge, in each tile.
    const edge = (to.x - from.x + to.y - from.y) / unit;
    expect(Math.abs(area - exact)).toBeLessThan(edge + 4096 * 0.01 + 100);
  });
  fc.assert(property, { numRuns: runs(200) });
});

/** The area of an upright rectangle within the edges of its tile, without the buffer. */
function areaWithin(ring: readonly (readonly [number, number])[]): number {
  const span = (axis: 0 | 1) => {
    const values = ring.map(point => Math.max(0, Math.min(4096, point[axis])));
    return Math.max(...values) - Math.min(...values);
  };
  return span(0) * span(1);
}

test('a field on the antimeridian is drawn on both sides, however it is written', () => {
  const across = [
    [179.999, 0.001],
    [-179.999, 0.001],
    [-179.999, 0.003],
    [179.999, 0.003],
    [179.999, 0.001],
  ];
  const beyond = across.map(([lon = 0, lat]) => [lon < 0 ? lon + 360 : lon, lat]);
  for (const ring of [across, beyond]) {
    const geometry = { type: 'Polygon', coordinates: [ring] };
    const [east] = outlineIn({ z: 14, x: 2 ** 14 - 1, y: 2 ** 13 - 1 }, geometry);
    const [west] = outlineIn({ z: 14, x: 0, y: 2 ** 13 - 1 }, geometry);
    expect(Math.max(...(east ?? []).map(([x]) => x))).toBeGreaterThan(4096);
    expect(Math.min(...(west ?? []).map(([x]) => x))).toBeLessThan(0);
    expect(outlineIn({ z: 14, x: 2 ** 13, y: 2 ** 13 - 1 }, geometry)).toEqual([]);
  }
  expect(project(EDGE_LATITUDE + 1, 0).y).toBeCloseTo(0, 0);
});
