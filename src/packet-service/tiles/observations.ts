import { cellToken } from '../../geometry/cells.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { uuidToUlid } from '../packet-format/ulid.ts';
import { boxWithin } from '../packets/area.ts';
import { findOnMap, type MapFilter, type MapRow } from '../packets/tile-store.ts';
import {
  boxOf,
  fineLevelOf,
  LAST_CLUSTERED,
  levelOf,
  type Position,
  squareOf,
  type Tile,
} from './mercator.ts';
import { countIn, findClusters } from './store.ts';
import { EXTENT, type Feature, type TilePoint, vectorTile } from './vector-tile.ts';

/** Observations of a tile that are read for a filter or shown singly is decided from, at most. */
const MAX_CANDIDATES = 20_000;
/** Observations that a tile shows singly, at most. */
const MAX_SINGLES = 2000;

/** The tile of observations as a Mapbox Vector Tile. */
export async function observationTile(database: Database, tile: Tile, filter: MapFilter): Promise<Buffer> {
  const isFiltered = Object.values(filter).some(value => value !== undefined);
  if (tile.z > LAST_CLUSTERED) {
    return readTile(database, tile, filter, {
      byPlace: true,
      singles: MAX_SINGLES,
      level: fineLevelOf(tile.z),
    });
  }
  const level = levelOf(tile.z >> 1);
  if (isFiltered) {
    const byPlace = (await countIn(database, tile)) <= MAX_CANDIDATES;
    return readTile(database, tile, filter, { byPlace, singles: 0, level });
  }
  const clusters = await findClusters(database, 'observations', tile);
  const features = clusters.map(({ cell, count, single, ...position }) => ({
    geometry: { point: pointIn(tile, position) },
    properties: { count, cell: cellToken(cell, level), id: single === null ? undefined : uuidToUlid(single) },
  }));
  return vectorTile({ observations: features });
}

/** A tile that is made from packets. */
async function readTile(
  database: Database,
  tile: Tile,
  filter: MapFilter,
  { byPlace, singles, level }: { byPlace: boolean; singles: number; level: number },
): Promise<Buffer> {
  const { x, y, size } = squareOf(tile);
  const square = { west: x, east: x + size - 1, north: y, south: y + size - 1 };
  const query = { square, filter, singles, level, candidates: MAX_CANDIDATES };
  const cells = byPlace && filter.geoid === undefined ? boxWithin(boxOf(tile)).cells : undefined;
  let found = await findOnMap(database, { ...query, cells });
  // The cells around a tile reach over its edges, and others may have many observations there.
  if (found.truncated && cells !== undefined && tile.z <= LAST_CLUSTERED)
    found = await findOnMap(database, query);
  return vectorTile({
    observations: found.rows.map(row => featureOf(tile, row, level)),
    truncated: found.truncated
      ? [{ geometry: { point: [EXTENT / 2, EXTENT / 2] }, properties: { read: MAX_CANDIDATES } }]
      : [],
  });
}

function featureOf(tile: Tile, { id, type, ts, cell, count, ...position }: MapRow, level: number): Feature {
  return {
    geometry: { point: pointIn(tile, position) },
    properties: {
      count,
      ...(id === null
        ? { cell: cellToken(cell, level) }
        : { id: uuidToUlid(id), type: type ?? undefined, time: ts?.toISOString() }),
    },
  };
}

/** Where a position of the square is in its tile. */
export function pointIn(tile: Tile, { x, y }: Position): TilePoint {
  const square = squareOf(tile);
  const inTile = (units: number) => Math.floor((units / square.size) * EXTENT);
  return [inTile(x - square.x), inTile(y - square.y)];
}
