import sql, { raw } from 'sql-template-tag';
import { type Database, prepared } from '../../../platform/database/database.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';
import type { Locations } from '../../core/packets/tile-store.ts';
import { countsOf, GRIDS, type Tile } from './mercator.ts';

/** The kinds of things that are counted. */
export type Layer = 'observations' | 'fields';
const LAYERS: Record<Layer, number> = { observations: 1, fields: 2 };

/** A cluster of a tile: what is counted in one S2 cell. */
export interface Cluster {
  /** number of the cell at its level */
  cell: number;
  count: number;
  /** mean position, in units of the square */
  x: number;
  y: number;
  /** the packet's id (uuid form) or the field's GeoID, if it is the only one and known */
  single: string | null;
}

/** The clusters of a tile, from the table of counts. */
export async function findClusters(database: Database, layer: Layer, tile: Tile): Promise<Cluster[]> {
  const { grid, columns, rows: tileRows } = countsOf(tile);
  const { rows } = await database.query<{ [Name in keyof Cluster]: string | null }>(
    prepared(sql`
      SELECT cell, count, sum_x / count AS x, sum_y / count AS y, CASE WHEN count = 1 THEN single END AS single
      FROM tile_cells
      WHERE layer = ${LAYERS[layer]} AND grid = ${grid} AND x = ANY (${columns}::smallint[])
        AND y = ANY (${tileRows}::smallint[])
      ORDER BY cell`),
  );
  const clusters: Cluster[] = [];
  for (const { cell, count, x, y, single } of rows) {
    const part = { cell: Number(cell), count: Number(count), x: Number(x), y: Number(y), single };
    const last = clusters.at(-1);
    if (last?.cell === part.cell) clusters[clusters.length - 1] = together(last, part);
    else clusters.push(part);
  }
  return clusters;
}

/** Two parts of a cell that is in several of the tiles that are counted. */
function together(a: Cluster, b: Cluster): Cluster {
  const count = a.count + b.count;
  const mean = (first: number, second: number) => Math.floor((first * a.count + second * b.count) / count);
  return { cell: a.cell, count, x: mean(a.x, b.x), y: mean(a.y, b.y), single: null };
}

/** How many observations there are in a tile. */
export async function countIn(database: Database, tile: Tile): Promise<number> {
  const { grid, columns, rows: tileRows } = countsOf(tile);
  const { rows } = await database.query<{ count: string }>(
    prepared(sql`
      SELECT coalesce(sum(count), 0) AS count FROM tile_cells
      WHERE layer = ${LAYERS.observations} AND grid = ${grid} AND x = ANY (${columns}::smallint[])
        AND y = ANY (${tileRows}::smallint[])`),
  );
  return Number(rows[0]?.count);
}

/** Takes the lock of counting observations for the rest of the transaction; false if another session has it. */
export async function tryLockCounting(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ taken: boolean }>({
    name: 'try_lock_tiles',
    text: 'SELECT pg_try_advisory_xact_lock($1) AS taken',
    values: [ADVISORY_LOCKS.tiles],
  });
  return rows[0]?.taken === true;
}

/** The same, after waiting for it. */
export async function lockCounting(database: Database): Promise<void> {
  await database.query({ text: 'SELECT pg_advisory_xact_lock($1)', values: [ADVISORY_LOCKS.tiles] });
}

/** Up to which position of the log observations are counted. */
export async function findCounted(database: Database): Promise<number> {
  const { rows } = await database.query<{ position: string }>({
    name: 'counted_position',
    text: 'SELECT position FROM tile_state',
  });
  return Number(rows[0]?.position ?? 0);
}

/** Stores up to which position observations are counted. */
export async function setCounted(database: Database, position: number): Promise<void> {
  await database.query({
    name: 'set_counted_position',
    text: `INSERT INTO tile_state (position) VALUES ($1)
      ON CONFLICT (one) DO UPDATE SET position = excluded.position`,
    values: [position],
  });
}

/**
 * What changes with each round of counting, and with each erasure: the transaction that last wrote the position.
 * undefined before the first round.
 */
export async function findState(database: Database): Promise<string | undefined> {
  const { rows } = await database.query<{ state: string }>({
    name: 'tile_state',
    text: 'SELECT xmin::text AS state FROM tile_state',
  });
  return rows[0]?.state;
}

/** Has the state changed when the transaction commits. */
export async function changeState(database: Database): Promise<void> {
  await database.query({ text: 'UPDATE tile_state SET position = position' });
}

/** The tile and cell of locations `p` in each grid `g`: a tile of zoom 2g + 1, a cell of level 2g + 3. */
const TILE_X = raw('p.x >> (30 - 2 * g)');
const TILE_Y = raw('p.y >> (30 - 2 * g)');
const CELL = raw('p.cell >> (34 - 4 * g)');

/** Counts locations. Transactions that count the same layer take turns, under a lock. */
export async function addLocations(database: Database, layer: Layer, locations: Locations): Promise<void> {
  const { singles, xs, ys, cells } = locations;
  await database.query(
    prepared(sql`
      INSERT INTO tile_cells AS t (layer, grid, x, y, cell, count, sum_x, sum_y, single)
      SELECT ${LAYERS[layer]}::smallint, g, ${TILE_X} AS tile_x, ${TILE_Y} AS tile_y,
        ${CELL} AS ancestor, count(*), sum(p.x), sum(p.y), CASE WHEN count(*) = 1 THEN max(p.single) END
      FROM unnest(${singles}::text[], ${xs}::bigint[], ${ys}::bigint[], ${cells}::bigint[]) AS p (single, x, y, cell),
        generate_series(0, ${GRIDS}::int) AS g
      GROUP BY g, tile_x, tile_y, ancestor
      ON CONFLICT (layer, grid, x, y, cell) DO UPDATE SET count = t.count + excluded.count,
        sum_x = t.sum_x + excluded.sum_x, sum_y = t.sum_y + excluded.sum_y, single = NULL`),
  );
}

/** Removes counted locations from the counts. */
export async function removeLocations(database: Database, layer: Layer, locations: Locations): Promise<void> {
  const { xs, ys, cells } = locations;
  await database.query(sql`
    UPDATE tile_cells AS t SET count = t.count - gone.count, sum_x = t.sum_x - gone.x, sum_y = t.sum_y - gone.y,
      single = NULL
    FROM (
      SELECT g, ${TILE_X} AS tile_x, ${TILE_Y} AS tile_y, ${CELL} AS ancestor,
        count(*) AS count, sum(p.x) AS x, sum(p.y) AS y
      FROM unnest(${xs}::bigint[], ${ys}::bigint[], ${cells}::bigint[]) AS p (x, y, cell),
        generate_series(0, ${GRIDS}::int) AS g
      GROUP BY g, tile_x, tile_y, ancestor
    ) AS gone
    WHERE t.layer = ${LAYERS[layer]} AND t.grid = gone.g AND t.x = gone.tile_x AND t.y = gone.tile_y
      AND t.cell = gone.ancestor`);
  await database.query(sql`
    DELETE FROM tile_cells AS t USING (
      SELECT g, ${TILE_X} AS tile_x, ${TILE_Y} AS tile_y, ${CELL} AS ancestor
      FROM unnest(${xs}::bigint[], ${ys}::bigint[], ${cells}::bigint[]) AS p (x, y, cell),
        generate_series(0, ${GRIDS}::int) AS g
    ) AS gone
    WHERE t.layer = ${LAYERS[layer]} AND t.grid = gone.g AND t.x = gone.tile_x AND t.y = gone.tile_y
      AND t.cell = gone.ancestor AND t.count = 0`);
}

/** A field as it is counted. */
export interface CountedField {
  geoid: string;
  x: number;
  y: number;
  cell: number;
}

/** Records fields as counted; returns those that were not. */
export async function insertCountedFields(
  database: Database,
  fields: readonly CountedField[],
): Promise<CountedField[]> {
  const { rows } = await database.query<{ geoid: string }>(sql`
    INSERT INTO tile_fields (geoid, x, y, cell)
    SELECT * FROM unnest(${fields.map(({ geoid }) => geoid)}::text[], ${fields.map(({ x }) => x)}::bigint[],
      ${fields.map(({ y }) => y)}::bigint[], ${fields.map(({ cell }) => cell)}::bigint[])
    ON CONFLICT (geoid) DO NOTHING RETURNING geoid`);
  const added = new Set(rows.map(({ geoid }) => geoid));
  return fields.filter(({ geoid }) => added.has(geoid));
}

/** Removes a field from those that are counted; returns where it was, undefined if it was not counted. */
export async function deleteCountedField(
  database: Database,
  geoid: string,
): Promise<CountedField | undefined> {
  const { rows } = await database.query<{ [Name in keyof CountedField]: string }>(
    sql`DELETE FROM tile_fields WHERE geoid = ${geoid} RETURNING geoid, x, y, cell`,
  );
  const [row] = rows;
  return row && { geoid, x: Number(row.x), y: Number(row.y), cell: Number(row.cell) };
}
