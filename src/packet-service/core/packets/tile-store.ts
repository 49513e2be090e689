import sql, { join, raw, type Sql } from 'sql-template-tag';
import { type Database, prepared } from '../../../platform/database/database.ts';
import type { Box, CellRange } from './area.ts';
import { ADDITIONAL, conditionsOf, OWN, type PacketFilter, type Source } from './filter-store.ts';

/** Where things are, as arrays in PostgreSQL's form: they go from one statement to the next without being read. */
export interface Locations {
  /** ids of packets (uuid form) or GeoIDs of fields */
  singles: string | string[];
  /** position in the Web Mercator square of 2^31 units along each side */
  xs: string | number[];
  ys: string | number[];
  /** level-20 S2 cells, by number */
  cells: string | number[];
}

/** Units along each side of the square. */
const SIDE = raw('2147483648');
/** Degrees of latitude at which the square ends. */
const EDGE = raw('85.0511287798066');
/** The position of packets `p`. PostgreSQL refuses products that underflow, so tiny latitudes are zero. */
const X = sql`least(${SIDE} - 1, floor((p.lon + 180) / 360 * ${SIDE}))::bigint`;
const Y = sql`least(${SIDE} - 1, greatest(0, floor(${SIDE} * (0.5 - CASE WHEN abs(p.lat) < 1e-10 THEN 0
  ELSE asinh(tan(radians(greatest(-${EDGE}, least(${EDGE}, p.lat))))) / (2 * pi()) END))))::bigint`;
/** Observations are packets outside threads. Only those with a capture point are on maps. */
const IS_LOCATED = raw('p.thread_id IS NULL AND p.cell IS NOT NULL');

/**
 * The positions of observations with these ids; undefined if none of them has a capture point.
 *
 * @param ids uuids, as an array in PostgreSQL's form
 */
export async function findLocations(database: Database, ids: string): Promise<Locations | undefined> {
  const { rows } = await database.query<Locations | { cells: null }>(
    prepared(sql`
      SELECT array_agg(p.id::text)::text AS singles, array_agg(${X})::text AS xs, array_agg(${Y})::text AS ys,
        array_agg(p.cell)::text AS cells
      FROM packets p WHERE p.id = ANY (${ids}::uuid[]) AND ${IS_LOCATED}`),
  );
  const [locations] = rows;
  return locations?.cells == null ? undefined : locations;
}

/** A part of the square: a tile. Both ends are inclusive. */
export interface Square {
  west: number;
  east: number;
  north: number;
  south: number;
}

/** The filters of observations on a map. */
export interface MapFilter extends Pick<PacketFilter, 'geoid' | 'type' | 'from' | 'to'> {
  /** a member of the Body, and what its text contains, in any case */
  text?: { field: string; contains: string } | undefined;
}

/** The observations that a tile selects. */
export interface MapQuery {
  square: Square;
  filter: MapFilter;
  /** the cells around it, if candidates are read by location and not by the filter, newest first */
  cells?: readonly CellRange[] | undefined;
  /** packets that are read, at most */
  candidates: number;
  /** observations beyond which they are grouped by cell */
  singles: number;
  /** level of the cells, at most 20 */
  level: number;
}

/** One observation, or those of one cell. */
export interface MapRow {
  count: number;
  /** mean position */
  x: number;
  y: number;
  /** cell at the level of the query */
  cell: number;
  /** uuid, type and time of the only one; of several observations, null */
  id: string | null;
  type: string | null;
  ts: Date | null;
}

/** Maximum bytes of a Body in which a text is looked for. */
const SEARCHED_BODY = 16 * 1024;

/**
 * The observations of a filter in a part of the square, from a limited number of candidates.
 *
 * @returns truncated: whether there were more candidates
 */
export async function findOnMap(
  database: Database,
  query: MapQuery,
): Promise<{ rows: MapRow[]; truncated: boolean }> {
  const { square, filter, candidates, singles, level } = query;
  const { rows } = await database.query<Record<keyof MapRow | 'read', string> & { ts: Date | null }>(
    prepared(sql`
      WITH candidates AS MATERIALIZED (${candidatesOf(query)}),
      placed AS (
        SELECT p.id, p.type, p.ts, p.cell, ${X} AS x, ${Y} AS y
        FROM (SELECT * FROM candidates LIMIT ${candidates}) AS p
        WHERE ${join([IS_LOCATED, ...restOf(filter)], ' AND ')}
      ),
      inside AS MATERIALIZED (
        SELECT * FROM placed
        WHERE x BETWEEN ${square.west} AND ${square.east} AND y BETWEEN ${square.north} AND ${square.south}
      ),
      total AS MATERIALIZED (SELECT count(*) <= ${singles}::int AS singly FROM inside)
      SELECT count(*) AS count, (sum(x) / count(*))::bigint AS x, (sum(y) / count(*))::bigint AS y,
        min(cell) >> ${2 * (20 - level)}::int AS cell, CASE WHEN count(*) = 1 THEN min(id::text) END AS id,
        CASE WHEN count(*) = 1 THEN min(type) END AS type, CASE WHEN count(*) = 1 THEN min(ts) END AS ts,
        (SELECT count(*) FROM candidates) AS read
      FROM inside, total
      GROUP BY cell >> ${2 * (20 - level)}::int, CASE WHEN singly THEN id END
      UNION ALL SELECT 0, NULL, NULL, NULL, NULL, NULL, NULL, (SELECT count(*) FROM candidates)
      ORDER BY cell, id`),
  );
  const read = Number(rows[0]?.read ?? 0);
  return {
    rows: rows
      .filter(({ count }) => Number(count) > 0)
      .map(row => ({
        ...row,
        count: Number(row.count),
        x: Number(row.x),
        y: Number(row.y),
        cell: Number(row.cell),
      })),
    truncated: read > candidates,
  };
}

/** Observations of a filter, wherever they are, in columns. */
export interface Points {
  count: number;
  /** positions in units of the square */
  xs: Int32Array;
  ys: Int32Array;
  /** level-20 S2 cells, by number */
  cells: Float64Array;
  /** the 16 bytes of each uuid, one after the other */
  ids: Buffer;
  /** whether there were more candidates */
  truncated: boolean;
}

/** Bytes of a point on its way: uuid, cell, x and y. */
const POINT_BYTES = 32;
const POINT = sql`uuid_send(p.id) || int8send(p.cell) || int4send(${X}::int) || int4send(${Y}::int)`;

/**
 * The observations of a filter from a limited number of candidates, as they are: nothing is grouped.
 *
 * @param query box: where they are, if candidates are read by location: only one in whose cells `countInCells` finds few
 *   enough packets
 */
export async function findPoints(
  database: Database,
  { filter, box, candidates }: Pick<MapQuery, 'filter' | 'candidates'> & { box?: Box | undefined },
): Promise<Points> {
  const isPoint = join([IS_LOCATED, ...restOf(filter)], ' AND ');
  const from = box ? inBox(filter, box, candidates) : candidatesOf({ filter, candidates, cells: undefined });
  const statement = sql`
    SELECT count(*) AS read,
      string_agg(CASE WHEN p.number <= ${candidates} AND ${isPoint} THEN ${POINT} END, ''::bytea) AS points
    FROM (SELECT *, row_number() OVER () AS number FROM (${from}) AS candidates) AS p`;
  const { rows } = await database.query<{ read: string; points: Buffer | null }>(
    // Which indexes are best depends on the cells and the time.
    box ? statement : prepared(statement),
  );
  const [row] = rows;
  return { ...unpack(row?.points ?? Buffer.alloc(0)), truncated: Number(row?.read) > candidates };
}

/** The packets of a type and time in a box: PostgreSQL looks them up in both indexes, and reads those that are in both. */
function inBox({ type, from, to }: MapFilter, box: Box, candidates: number): Sql {
  const conditions = conditionsOf({ type, from, to, bbox: box }, OWN);
  return sql`SELECT ${COLUMNS} FROM packets p WHERE ${join(conditions, ' AND ')} LIMIT ${candidates + 1}`;
}

/** How many packets are in cells; more than `most` are not counted on. */
export async function countInCells(
  database: Database,
  cells: readonly CellRange[],
  most: number,
): Promise<number> {
  const limit = sql` LIMIT ${most + 1}`;
  const ranges = cells.map(
    ({ first, last }) =>
      sql`(SELECT p.cell FROM packets p WHERE p.cell BETWEEN ${first} AND ${last}${limit})`,
  );
  const { rows } = await database.query<{ count: string }>(
    prepared(sql`
      SELECT count(*) AS count FROM (SELECT cell FROM (${join(ranges, ' UNION ALL ')}) AS ranges${limit}) AS packets`),
  );
  return Number(rows[0]?.count);
}

function unpack(bytes: Buffer): Omit<Points, 'truncated'> {
  const count = bytes.length / POINT_BYTES;
  const [xs, ys] = [new Int32Array(count), new Int32Array(count)];
  const cells = new Float64Array(count);
  const ids = Buffer.alloc(count * 16);
  for (let n = 0, at = 0; n < count; n++, at += POINT_BYTES) {
    bytes.copy(ids, n * 16, at, at + 16);
    cells[n] = bytes.readUInt32BE(at + 16) * 2 ** 32 + bytes.readUInt32BE(at + 20);
    xs[n] = bytes.readInt32BE(at + 24);
    ys[n] = bytes.readInt32BE(at + 28);
  }
  return { count, xs, ys, cells, ids };
}

const COLUMNS = raw('p.id, p.type, p.ts, p.thread_id, p.lat, p.lon, p.cell, p.body, p.erased_at');

/** One more than the limit shows whether there are more. */
function candidatesOf({ cells, filter, candidates }: Pick<MapQuery, 'cells' | 'filter' | 'candidates'>): Sql {
  const limit = sql` LIMIT ${candidates + 1}`;
  if (filter.geoid !== undefined) {
    const own = newest(OWN, filter, limit);
    return sql`SELECT * FROM (${own} UNION ALL ${newest(ADDITIONAL, filter, limit)}) AS either ORDER BY ts DESC${limit}`;
  }
  if (cells === undefined) return newest(OWN, filter, limit);
  const ranges = cells.map(
    ({ first, last }) =>
      sql`(SELECT ${COLUMNS} FROM packets p WHERE p.cell BETWEEN ${first} AND ${last} ORDER BY p.cell${limit})`,
  );
  return sql`SELECT * FROM (${join(ranges, ' UNION ALL ')}) AS ranges${limit}`;
}

/** The newest packets by what an index has: GeoID or type, and time. */
function newest(source: Source, { geoid, type, from, to }: MapFilter, limit: Sql): Sql {
  const indexed = geoid === undefined ? { type, from, to } : { geoid, from, to };
  const conditions = conditionsOf(indexed, source);
  if (source === ADDITIONAL) conditions.push(sql`p.geoid <> ${geoid}`);
  return sql`(SELECT ${COLUMNS} FROM ${source.from} WHERE ${join(conditions, ' AND ')}
    ORDER BY ${source.ts} DESC, ${source.id} DESC${limit})`;
}

/** The conditions that candidates may not have been chosen by. */
function restOf({ type, from, to, text }: MapFilter): Sql[] {
  const rest = conditionsOf({ type, from, to }, OWN);
  return text === undefined ? rest : [...rest, containsText(text)];
}

/** Characters that JSON writes in another way than they are. */
const ESCAPED = /["\\\u0000-\u001f]/;

/**
 * Whether the Body has a member that contains a text. The stored text is canonical JSON, so most bodies need not be
 * parsed: those without the name, and those without the text. Numbers, lists and objects are written in another way
 * than they are compared, so that the second holds only if the name is there once, before a string.
 */
function containsText({ field, contains }: NonNullable<MapFilter['text']>): Sql {
  const name = `${JSON.stringify(field)}:`;
  const isPossible = ESCAPED.test(contains)
    ? sql`true`
    : sql`(strpos(lower(p.body), lower(${contains}::text)) > 0 OR strpos(p.body, ${`${name}"`}::text) = 0
        OR strpos(substr(p.body, strpos(p.body, ${name}::text) + 1), ${name}::text) > 0)`;
  return sql`CASE WHEN octet_length(p.body) <= ${SEARCHED_BODY} AND strpos(p.body, ${name}::text) > 0 AND ${isPossible}
    THEN strpos(lower(p.body::jsonb ->> ${field}::text), lower(${contains}::text)) > 0 END`;
}
