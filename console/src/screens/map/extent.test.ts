import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cellIndex, cellToken, FINE_LEVEL, leafCell } from '../../../../src/geometry/cells.ts';
import { cut } from '../../../../src/packet-service/reading/tiles/cut.ts';
import {
  LAST_CLUSTERED,
  levelOf,
  type Position,
  project,
  squareOf,
  type Tile,
} from '../../../../src/packet-service/reading/tiles/mercator.ts';
import { pointIn } from '../../../../src/packet-service/reading/tiles/observations.ts';
import { vectorTile } from '../../../../src/packet-service/reading/tiles/vector-tile.ts';
import { edgesOfObservations } from './extent.ts';

type Place = readonly [lat: number, lon: number];

/** The tiles of the service for observations at some places. */
function tilesOf(places: readonly Place[]) {
  const positions = places.map(([lat, lon]) => project(lat, lon));
  const points = {
    count: places.length,
    xs: Int32Array.from(positions, ({ x }) => x),
    ys: Int32Array.from(positions, ({ y }) => y),
    cells: Float64Array.from(places, ([lat, lon]) => cellIndex(leafCell(lat, lon), FINE_LEVEL)),
    ids: Buffer.alloc(16 * places.length),
    truncated: false,
  };
  return (tile: Tile) => {
    const level = levelOf(tile.z >> 1);
    const groups = tile.z > LAST_CLUSTERED ? singlesIn(tile, positions) : cut(points, tile, level);
    return vectorTile({
      observations: groups.map(({ cell, count, ...position }) => ({
        geometry: { point: pointIn(tile, position) },
        properties: { count, cell: cellToken(cell, level) },
      })),
    });
  };
}

function singlesIn(tile: Tile, positions: readonly Position[]) {
  const { x: west, y: north, size } = squareOf(tile);
  return positions
    .filter(({ x, y }) => x >= west && x < west + size && y >= north && y < north + size)
    .map(position => ({ ...position, count: 1, cell: 0 }));
}

async function look(places: readonly Place[]) {
  const tile = tilesOf(places);
  let requests = 0;
  const edges = await edgesOfObservations(async at => {
    requests++;
    return Uint8Array.from(tile(at)).buffer;
  });
  return { edges, requests };
}

test('the edges hold all observations and little more, and need few tiles', async () => {
  const middle = fc.tuple(
    fc.double({ min: -60, max: 60, noNaN: true }),
    fc.double({ min: -170, max: 170, noNaN: true }),
  );
  const width = fc.integer({ min: 0, max: 16 }).map(halves => 10 / 2 ** halves);
  const part = fc.double({ min: -0.5, max: 0.5, noNaN: true });
  const parts = fc.array(fc.tuple(part, part), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(middle, width, parts, async ([lat, lon], degrees, offsets) => {
      const places = offsets.map(([down, along]): Place => [lat + down * degrees, lon + along * degrees]);
      const { edges, requests } = await look(places);
      const [west, south, east, north] = edges ?? [0, 0, 0, 0];
      const [lats, lons] = [places.map(([value]) => value), places.map(([, value]) => value)];
      const exact = 1e-7;
      expect(west).toBeLessThanOrEqual(Math.min(...lons) + exact);
      expect(east).toBeGreaterThanOrEqual(Math.max(...lons) - exact);
      expect(south).toBeLessThanOrEqual(Math.min(...lats) + exact);
      expect(north).toBeGreaterThanOrEqual(Math.max(...lats) - exact);
      const spread = (values: number[]) => Math.max(...values) - Math.min(...values);
      const stretch = 1 / Math.cos((lat * Math.PI) / 180);
      const most = Math.max(spread(lons), spread(lats) * stretch);
      expect(east - west).toBeLessThanOrEqual(spread(lons) + most / 2 + 0.001);
      expect(requests).toBeLessThanOrEqual(50);
    }),
  );
});

test('observations within 350 m are found as closely in one cell as across the edges of cells', async () => {
  for (const [lat, lon] of [
    [-2.60286, 29.73999],
    // Cells of all levels meet here.
    [0, 45],
    [0, 0],
  ] as const) {
    const places = [
      [lat - 0.0015, lon - 0.0015],
      [lat + 0.0015, lon - 0.0014],
      [lat + 0.0014, lon + 0.0015],
      [lat, lon],
    ] as const;
    const { edges, requests } = await look(places);
    const [west, south, east, north] = edges ?? [0, 0, 0, 0];
    for (const [found, expected] of [
      [west, lon - 0.0015],
      [east, lon + 0.0015],
      [south, lat - 0.0015],
      [north, lat + 0.0015],
    ] as const)
      expect(found).toBeCloseTo(expected, 4);
    expect(requests).toBeLessThanOrEqual(50);
  }
});

test('without observations there are no edges, nor if they are on both sides of the world', async () => {
  expect((await look([])).edges).toBeUndefined();
  expect(
    (
      await look([
        [40, -100],
        [0, 100],
      ])
    ).edges,
  ).toBeUndefined();
});
