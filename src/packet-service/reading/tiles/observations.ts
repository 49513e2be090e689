import { cellToken } from '../../../geometry/cells.ts';
import type { Database } from '../../../platform/database/database.ts';
import { uuidToUlid } from '../../core/packet-format/ulid.ts';
import { type Box, boxWithin } from '../../core/packets/area.ts';
import {
  countInCells,
  findOnMap,
  findPoints,
  type MapFilter,
  type MapRow,
  type Points,
} from '../../core/packets/tile-store.ts';
import { cut } from './cut.ts';
import {
  boxOf,
  fineLevelOf,
  LAST_CLUSTERED,
  levelOf,
  type Position,
  squareOf,
  type Tile,
} from './mercator.ts';
import type { SharedReads } from './shared-reads.ts';
import { type Cluster, countIn, findClusters, findState } from './store.ts';
import { EXTENT, type Feature, type TilePoint, vectorTile } from './vector-tile.ts';

/** Maximum observations of a tile that are read for a filter or to decide on single points. */
const MAX_CANDIDATES = 20_000;
/** Maximum observations that a tile shows singly. */
const MAX_SINGLES = 2000;

/** Dependencies of tiles of observations. */
export interface Observations {
  database: Database;
  /** what several tiles with the same filter are cut from */
  shared: SharedReads<Points>;
}

/** The tile of observations as a Mapbox Vector Tile. */
export async function observationTile(from: Observations, tile: Tile, filter: MapFilter): Promise<Buffer> {
  if (tile.z > LAST_CLUSTERED) return singlesTile(from.database, tile, filter);
  const level = levelOf(tile.z >> 1);
  if (Object.values(filter).some(value => value !== undefined))
    return filteredTile(from, tile, filter, level);
  const clusters = await findClusters(from.database, 'observations', tile);
  return vectorTile({ observations: clusters.map(cluster => clusterIn(tile, cluster, level)) });
}

/** A tile beyond the clustered zooms, from the packets in its cells or of its GeoID. */
async function singlesTile(database: Database, tile: Tile, filter: MapFilter): Promise<Buffer> {
  const { x, y, size } = squareOf(tile);
  const level = fineLevelOf(tile.z);
  const { rows, truncated } = await findOnMap(database, {
    square: { west: x, east: x + size - 1, north: y, south: y + size - 1 },
    filter,
    singles: MAX_SINGLES,
    level,
    candidates: MAX_CANDIDATES,
    cells: filter.geoid === undefined ? boxWithin(boxOf(tile)).cells : undefined,
  });
  return vectorTile({
    observations: rows.map(row => singleIn(tile, row, level)),
    truncated: saidIf(truncated),
  });
}

/** A tile of the clustered zooms with a filter, cut from a read that other tiles share. */
async function filteredTile(
  from: Observations,
  tile: Tile,
  filter: MapFilter,
  level: number,
): Promise<Buffer> {
  const points = await readShared(from, tile, filter);
  return vectorTile({
    observations: cut(points, tile, level).map(cluster => clusterIn(tile, cluster, level)),
    truncated: saidIf(points.truncated),
  });
}

/** All observations of the filter in the tile, if few enough packets decide that; the newest of the filter otherwise. */
async function readShared(
  { database, shared }: Observations,
  tile: Tile,
  filter: MapFilter,
): Promise<Points> {
  const state = await findState(database);
  const keyOf = (scope: string) => JSON.stringify([scope, filter]);
  const read = (scope: string, box?: Box) =>
    shared.read(
      keyOf(scope),
      state,
      () => findPoints(database, { filter, box, candidates: MAX_CANDIDATES }),
      () => findState(database),
    );
  if (filter.geoid !== undefined) return read('newest');
  const newest = await shared.find(keyOf('newest'), state);
  if (newest && !newest.truncated) return newest;
  if ((await countIn(database, tile)) <= MAX_CANDIDATES) {
    // The cells around a tile reach over its edges, and others may have many observations there.
    const box = boxWithin(boxOf(tile));
    const isAll = (await countInCells(database, box.cells, MAX_CANDIDATES)) <= MAX_CANDIDATES;
    if (isAll) return read(`${tile.z}/${tile.x}/${tile.y}`, box);
  }
  return read('newest');
}

/** The layer that says that there were more packets than are read. */
function saidIf(truncated: boolean): Feature[] {
  return truncated
    ? [{ geometry: { point: [EXTENT / 2, EXTENT / 2] }, properties: { read: MAX_CANDIDATES } }]
    : [];
}

function clusterIn(tile: Tile, { cell, count, single, ...position }: Cluster, level: number): Feature {
  return {
    geometry: { point: pointIn(tile, position) },
    properties: { count, cell: cellToken(cell, level), id: single === null ? undefined : uuidToUlid(single) },
  };
}

function singleIn(tile: Tile, { id, type, ts, cell, count, ...position }: MapRow, level: number): Feature {
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
