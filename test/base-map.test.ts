import { readFileSync } from 'node:fs';
import { VectorTile } from '@mapbox/vector-tile';
import type { FeatureCollection, Polygon } from 'geojson';
import { PbfReader } from 'pbf';
import { PMTiles } from 'pmtiles';
import { expect, test } from 'vitest';
import { BASE_MAP_ZOOM, PLACES_ZOOM } from '../console/src/parts/maps/base-map.ts';
import { archiveOf, type Tile } from '../scripts/base-map/archive.ts';
import { type Place, type Sized, thinned } from '../scripts/base-map/places.ts';
import { smoothedLine, smoothedRing } from '../scripts/base-map/smoothing.ts';
import { tilesOf } from '../scripts/base-map/tiles.ts';
import { LAKES } from '../scripts/base-map/water-names.ts';
import { isIn, waterLayers } from '../scripts/base-map/waters.ts';

const MEGABYTE = 1_000_000;
/** Tiles across and down the largest window that is common, at a whole zoom. */
const [ACROSS, DOWN] = [5, 4];

const committed = readFileSync(new URL('../console/src/parts/maps/base-map.pmtiles', import.meta.url));

/** An archive, and the compressed bytes that have been read of it. */
function opened(bytes: Uint8Array) {
  let read = 0;
  const archive = new PMTiles({
    getKey: () => 'archive',
    async getBytes(offset, length) {
      read += length;
      return { data: new Uint8Array(bytes.subarray(offset, offset + length)).buffer };
    },
  });
  return { archive, read: () => read };
}

async function layersAt(archive: PMTiles, { z, x, y }: Omit<Tile, 'data'>) {
  const found = await archive.getZxy(z, x, y);
  return found ? new VectorTile(new PbfReader(new Uint8Array(found.data))).layers : {};
}

async function namesAt(archive: PMTiles, layer: string, at: Omit<Tile, 'data'>): Promise<unknown[]> {
  const found = (await layersAt(archive, at))[layer];
  return Array.from({ length: found?.length ?? 0 }, (_, index) => found?.feature(index).properties.name);
}

test('the base map is smaller than 6 MB, and a view of it loads less than 300 kB at every zoom', async () => {
  expect(committed.length).toBeLessThan(6 * MEGABYTE);
  const { archive, read } = opened(committed);
  const { minZoom, maxZoom } = await archive.getHeader();
  expect([minZoom, maxZoom]).toEqual([0, PLACES_ZOOM]);
  for (let z = 0; z <= maxZoom; z++) {
    const count = 2 ** z;
    const sizes = new Map<string, number>();
    for (let x = 0; x < count; x++) {
      for (let y = 0; y < count; y++) {
        const before = read();
        await archive.getZxy(z, x, y);
        sizes.set(`${x}/${y}`, read() - before);
      }
    }
    const viewFrom = (left: number, top: number) => {
      let bytes = 0;
      for (let x = left; x < Math.min(left + ACROSS, left + count); x++)
        for (let y = top; y < top + DOWN; y++) bytes += sizes.get(`${x % count}/${y}`) ?? 0;
      return bytes;
    };
    for (let x = 0; x < count; x++)
      for (let y = 0; y < count; y++)
        expect(viewFrom(x, y), `from ${z}/${x}/${y}`).toBeLessThan(0.3 * MEGABYTE);
  }
});

test('land, water, borders and names are where they belong', async () => {
  const { archive } = opened(committed);
  const world = await layersAt(archive, { z: 0, x: 0, y: 0 });
  expect(Object.keys(world).sort()).toEqual(['borders', 'countries', 'lakes', 'rivers']);
  expect(await namesAt(archive, 'country-names', { z: 1, x: 1, y: 0 })).toContain('Russia');
  // Rwanda and the east of the Congo.
  const around = { z: BASE_MAP_ZOOM, x: 37, y: 32 };
  expect(Object.keys(await layersAt(archive, around)).sort()).toEqual([
    ...['borders', 'countries', 'country-names', 'lake-names', 'lakes', 'places', 'rivers'],
  ]);
  expect(await namesAt(archive, 'countries', around)).toContain('Rwanda');
  expect(await namesAt(archive, 'lake-names', around)).toContain('Kivu');
  expect(await namesAt(archive, 'places', around)).toEqual(expect.arrayContaining(['Kigali', 'Bujumbura']));
  const near = await namesAt(archive, 'places', { z: PLACES_ZOOM, x: 74, y: 64 });
  expect(near).toEqual(expect.arrayContaining(['Kigali', 'Gisenyi', 'Macuba', 'Shangi']));
  expect(Object.keys(await layersAt(archive, { z: PLACES_ZOOM, x: 74, y: 64 }))).toEqual(['places']);
});

test('every lake with a name is a lake there', () => {
  const rings = waterLayers().lakes.features.map(
    ({ geometry }) => (geometry as Polygon).coordinates[0] ?? [],
  );
  const outside = LAKES.filter(([, lon, lat]) => !rings.some(ring => isIn(ring, [lon, lat])));
  expect(outside.map(([name]) => name)).toEqual([]);
});

const place = (name: string, lon: number, lat: number): Place => ({ name, lon, lat, country: 'RW' });
const sized = (name: string, lon: number, lat: number, population: number, kind = 'PPL'): Sized => ({
  ...place(name, lon, lat),
  population,
  kind,
});

test('larger places appear first, capitals before them, and villages where there is room', () => {
  const shown = thinned(
    [
      place('Village', 40, 0),
      place('Suburb', 30.001, 0),
      place('Old spelling', 20, 10),
      place('Capital', 30, 0),
      place('Large', 10, 0),
      place('Far village', 50, 5),
    ],
    [
      sized('Large', 10, 0, 1_200_000),
      sized('Capital', 30.1, 0.1, 400_000, 'PPLC'),
      sized('Suburb', 30.001, 0, 900_000, 'PPLX'),
      sized('New spelling', 20.01, 10.01, 150_000, 'PPLA'),
    ],
  );
  const fromOf = Object.fromEntries(shown.map(({ name, from }) => [name, from]));
  expect(fromOf).toEqual({
    Capital: 2,
    Large: 3,
    'Old spelling': 4,
    Village: 9,
    'Far village': 9,
  });
  expect(shown.filter(({ isCapital }) => isCapital).map(({ name }) => name)).toEqual(['Capital']);
});

test('tiles have what appears at their zoom, and those of the last zoom of places have all', () => {
  const points: FeatureCollection = {
    type: 'FeatureCollection',
    features: [
      ...[0, 5].map(from => ({
        type: 'Feature' as const,
        properties: { name: `from ${from}`, from },
        geometry: { type: 'Point' as const, coordinates: [10, 10] },
      })),
    ],
  };
  const small = tilesOf({ places: points }, { first: 0, last: 2, tolerance: 3 });
  expect(small.map(({ z, x, y }) => [z, x, y])).toEqual([
    [0, 0, 0],
    [1, 1, 0],
    [2, 2, 1],
  ]);
  const countOf = ({ data }: Tile) => new VectorTile(new PbfReader(data)).layers.places?.length;
  expect(small.map(countOf)).toEqual([1, 1, 1]);
  const all = tilesOf({ places: points }, { first: 2, last: 2, tolerance: 3 }, true);
  expect(all.map(countOf)).toEqual([2]);
});

test('an archive is read as it was written, has equal tiles once, and is the same each time', async () => {
  const tile = (z: number, x: number, y: number, text: string): Tile => ({
    ...{ z, x, y },
    data: new TextEncoder().encode(text),
  });
  const tiles = [
    tile(0, 0, 0, 'world'),
    tile(1, 0, 0, 'sea'),
    tile(1, 0, 1, 'sea'),
    tile(1, 1, 1, 'sea'),
    tile(1, 1, 0, 'land'.repeat(1000)),
  ];
  const bytes = archiveOf(tiles, { name: 'test' });
  expect(archiveOf(tiles.toReversed(), { name: 'test' })).toEqual(bytes);
  const { archive } = opened(bytes);
  expect(await archive.getMetadata()).toEqual({ name: 'test' });
  const { numAddressedTiles, numTileContents } = await archive.getHeader();
  expect([numAddressedTiles, numTileContents]).toEqual([5, 3]);
  for (const { z, x, y, data } of tiles) {
    const found = await archive.getZxy(z, x, y);
    expect(new Uint8Array(found?.data ?? new ArrayBuffer(0)), `${z}/${x}/${y}`).toEqual(data);
  }
  expect(await archive.getZxy(2, 0, 0)).toBeUndefined();
});

test('corners are cut; the ends of a line stay, and a ring stays closed', () => {
  const line = smoothedLine([
    [0, 0],
    [4, 0],
    [4, 4],
  ]);
  expect([line[0], line.at(-1)]).toEqual([
    [0, 0],
    [4, 4],
  ]);
  expect(line).not.toContainEqual([4, 0]);
  const ring = smoothedRing([
    [0, 0],
    [4, 0],
    [4, 4],
    [0, 4],
    [0, 0],
  ]);
  expect(ring[0]).toEqual(ring.at(-1));
  expect(ring).toHaveLength(17);
});
