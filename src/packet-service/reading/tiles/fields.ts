import { cellToken } from '../../../geometry/cells.ts';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import type { Database } from '../../../platform/database/database.ts';
import { findFields } from '../../core/geoids/store.ts';
import { listFieldsIn } from '../../core/geoids/tile-store.ts';
import { boxOf, LAST_CLUSTERED, levelOf, type Tile } from './mercator.ts';
import { pointIn } from './observations.ts';
import { outlineIn } from './outlines.ts';
import { findClusters } from './store.ts';
import { EXTENT, type Feature, vectorTile } from './vector-tile.ts';

/** Maximum fields of a tile that are drawn. */
const MAX_OUTLINES = 2000;
/** Maximum bytes of their boundaries together, after the first. */
const MAX_BOUNDARIES = 1024 * 1024;
/** Approximate microseconds to draw a byte of a boundary. */
const BYTE_COST = 0.02;

/** The tile of fields as a Mapbox Vector Tile: clusters at low zooms, polygons beyond. */
export async function fieldTile(database: Database, tile: Tile, pace: Pace): Promise<Buffer> {
  if (tile.z > LAST_CLUSTERED) return outlineTile(database, tile, pace);
  const level = levelOf(tile.z >> 1);
  const clusters = await findClusters(database, 'fields', tile);
  const features = clusters.map(({ cell, count, single, ...position }) => ({
    geometry: { point: pointIn(tile, position) },
    properties: { count, cell: cellToken(cell, level), geoid: single ?? undefined },
  }));
  return vectorTile({ fields: features });
}

async function outlineTile(database: Database, tile: Tile, pace: Pace): Promise<Buffer> {
  const listed = await listFieldsIn(database, boxOf(tile), MAX_OUTLINES + 1);
  let bytes = 0;
  const drawn = listed.slice(0, MAX_OUTLINES).filter((field, index) => {
    bytes += field.bytes;
    return index === 0 || bytes <= MAX_BOUNDARIES;
  });
  const rows = await findFields(
    database,
    drawn.map(({ geoid }) => geoid),
  );
  const features: Feature[] = [];
  for (const { geoid, name, area_m2, boundary } of rows.sort((a, b) => (a.geoid < b.geoid ? -1 : 1))) {
    await pace(boundary.length * BYTE_COST);
    const rings = outlineIn(tile, JSON.parse(boundary));
    if (rings.length === 0) continue;
    features.push({
      geometry: { rings },
      properties: { geoid, name: name ?? undefined, area_m2: Math.round(area_m2) },
    });
  }
  const truncated: Feature[] =
    drawn.length < listed.length
      ? [{ geometry: { point: [EXTENT / 2, EXTENT / 2] }, properties: { read: drawn.length } }]
      : [];
  return vectorTile({ fields: features, truncated });
}
