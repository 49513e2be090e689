import sql, { empty, join, raw, type Sql } from 'sql-template-tag';
import { type Database, prepared } from '../../platform/postgres/database.ts';
import type { ReadableThreads } from '../access/caller.ts';
import { type Area, EARTH_RADIUS } from './area.ts';
import { NOT_ERASED } from './erase-store.ts';

/** The three sections of a packet as the texts they are stored as. */
export interface Sections {
  header: string;
  body: string;
  footer: string;
}

/** One packet, the thread that it belongs to (uuid form), and whether that was made with a token. */
export interface StoredPacket extends Sections {
  threadId: string | null;
  closed: boolean;
  /** when it was erased: then nothing but Header and hash are left */
  erasedAt: Date | null;
}

/** What stands in the place of the sections of a packet that is too large to be read with others. */
export interface Large {
  /** id (uuid form), a space, and the bytes of the sections, which are then missing; null where they are there */
  large: string | null;
}

/** A packet on a page: with its sections, unless it is large. */
export type PageRow = Large & Sections;

/** The same, and where its capture point is. */
export interface PlacedRow extends PageRow {
  lat: number | null;
  lon: number | null;
}

/** What a page of packets may be narrowed by; an absent filter does not filter. */
export interface PacketFilter {
  /** the packet's GeoID or one of its further ones */
  geoid?: string | undefined;
  type?: string | undefined;
  /** UTC, inclusive */
  from?: string | undefined;
  /** UTC, inclusive */
  to?: string | undefined;
  /** where the capture point must lie; all of them */
  areas: readonly Area[];
  /** the only threads whose messages are given; undefined gives all */
  threads?: ReadableThreads | undefined;
}

/** The place of a packet in the order of pages. */
export interface Place {
  /** in full precision, as PostgreSQL writes it */
  ts: string;
  /** uuid form */
  id: string;
}

export interface PageRequest {
  order: 'asc' | 'desc';
  limit: number;
  /** bytes beyond which a packet is large */
  largest: number;
  /** the last packet of the page before */
  after?: Place | undefined;
}

/** Packets by id (uuid form), in the order asked; undefined where there is none. */
export async function findPackets(
  database: Database,
  ids: readonly string[],
): Promise<(StoredPacket | undefined)[]> {
  const { rows } = await database.query<StoredPacket & { id: string }>({
    name: 'find_packets',
    text: 'SELECT id, thread_id AS "threadId", closed IS TRUE AS closed, erased_at AS "erasedAt", header, body, footer FROM packets WHERE id = ANY ($1::uuid[])',
    values: [ids],
  });
  const found = new Map(rows.map(row => [row.id, row]));
  return ids.map(id => found.get(id));
}

/** The same, but of those with more than `largest` bytes only what stands beside the sections. */
export async function findSmallPackets(
  database: Database,
  ids: readonly string[],
  largest: number,
): Promise<((StoredPacket & Large) | undefined)[]> {
  const { rows } = await database.query<StoredPacket & Large & { id: string }>(
    prepared(sql`
      SELECT p.id, p.thread_id AS "threadId", p.closed IS TRUE AS closed, p.erased_at AS "erasedAt",
        ${sectionColumns(largest)}
      FROM (SELECT *, ${BYTES} AS bytes FROM packets p WHERE id = ANY (${ids}::uuid[]) OFFSET 0) AS p`),
  );
  const found = new Map(rows.map(row => [row.id, row]));
  return ids.map(id => found.get(id));
}

/** A packet's sections, and what was copied out of them for queries. */
export interface PacketCopies extends StoredPacket {
  geoid: string;
  /** ISO 8601 in UTC with six decimals */
  ts: string;
  type: string;
  lat: number | null;
  lon: number | null;
  cell: number | null;
  furtherGeoids: string[];
  /** rows of the attachments that it names, uuid forms */
  attachments: { id: string; threadId: string | null }[];
}

/** A packet (id in the uuid form) with everything that is stored beside its sections. */
export async function findCopies(database: Database, id: string): Promise<PacketCopies | undefined> {
  const { rows } = await database.query<Omit<PacketCopies, 'cell'> & { cell: string | null }>(sql`
    SELECT header, body, footer, thread_id AS "threadId", geoid, type, lat, lon, cell,
      to_char(ts, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ts
    FROM packets WHERE id = ${id}`);
  const [row] = rows;
  if (!row) return undefined;
  const further = await database.query<{ geoid: string }>(
    sql`SELECT geoid FROM packet_geoids WHERE packet_id = ${id}`,
  );
  const attachments = await database.query<{ id: string; threadId: string | null }>(sql`
    SELECT attachment_id AS id, thread_id AS "threadId" FROM packet_attachments WHERE packet_id = ${id}`);
  return {
    ...row,
    cell: row.cell === null ? null : Number(row.cell),
    furtherGeoids: further.rows.map(({ geoid }) => geoid),
    attachments: attachments.rows,
  };
}

/** Where a packet (id in the uuid form) stands in the order of pages; undefined when there is none. */
export async function findPlace(database: Database, id: string): Promise<Place | undefined> {
  const { rows } = await database.query<Place>({
    name: 'find_place',
    text: 'SELECT ts::text, id FROM packets WHERE id = $1',
    values: [id],
  });
  return rows[0];
}

/**
 * One page of packets by (timestamp, id): rows after the place where the page before ended, so that packets
 * which arrive meanwhile shift nothing. A GeoID is looked for in the packets and in their further GeoIDs, each
 * in its own index order, and the two are merged: an OR over both would read and sort all matches.
 */
export function listPackets(database: Database, filter: PacketFilter, page: PageRequest): Promise<PageRow[]> {
  return readPage<PageRow>(
    database,
    sql`p.header, p.body, p.footer`,
    sectionColumns(page.largest),
    filter,
    page,
  );
}

/** The same with the packets' capture points: numbers, which unlike texts have to be written and read again. */
export function listPlacedPackets(
  database: Database,
  filter: PacketFilter,
  page: PageRequest,
): Promise<PlacedRow[]> {
  const columns = sql`p.header, p.body, p.footer, p.lat, p.lon`;
  return readPage<PlacedRow>(database, columns, sql`${sectionColumns(page.largest)}, lat, lon`, filter, page);
}

/** Bytes of a packet's sections. Those of a text that is stored apart are known without reading it. */
const BYTES = sql`octet_length(p.header) + coalesce(octet_length(p.body), 0) + octet_length(p.footer)`;

/** The columns of a {@link PageRow}, from rows that have `bytes` beside the sections. */
function sectionColumns(largest: number): Sql {
  const ifSmall = sql`CASE WHEN bytes <= ${largest} THEN`;
  return sql`${ifSmall} header END AS header, ${ifSmall} body END AS body, ${ifSmall} footer END AS footer,
    CASE WHEN bytes > ${largest} THEN id::text || ' ' || bytes END AS large`;
}

/** The rows of a page are found first: their bytes are then computed once for each, not once for each column. */
async function readPage<Row extends PageRow>(
  database: Database,
  stored: Sql,
  columns: Sql,
  filter: PacketFilter,
  page: PageRequest,
): Promise<Row[]> {
  const own = pageOf(OWN, sql`p.ts, p.id, ${BYTES} AS bytes, ${stored}`, filter, page);
  const rows =
    filter.geoid === undefined
      ? own
      : sql`(${own}) UNION ALL (${pageOf(FURTHER, sql`g.ts, p.id, ${BYTES} AS bytes, ${stored}`, filter, page)})`;
  const statement = sql`
    SELECT ${columns} FROM (${rows}) AS found
    ORDER BY ts ${direction(page)}, id ${direction(page)} LIMIT ${page.limit}`;
  // Areas are covered by any number of cells, so their statements have any number of texts.
  return (await database.query<Row>(filter.areas.length > 0 ? statement : prepared(statement))).rows;
}

/** Where a page is read from, and which columns there hold GeoID and place, in the order of an index. */
interface Source {
  from: Sql;
  geoid: Sql;
  ts: Sql;
  id: Sql;
}

const OWN: Source = { from: sql`packets p`, geoid: sql`p.geoid`, ts: sql`p.ts`, id: sql`p.id` };
const FURTHER: Source = {
  from: sql`packet_geoids g JOIN packets p ON p.id = g.packet_id`,
  geoid: sql`g.geoid`,
  ts: sql`g.ts`,
  id: sql`g.packet_id`,
};

function pageOf(source: Source, columns: Sql, filter: PacketFilter, page: PageRequest): Sql {
  const { from, ts, id } = source;
  return sql`SELECT ${columns} FROM ${from} WHERE ${conditions(source, filter, page)}
    ORDER BY ${ts} ${direction(page)}, ${id} ${direction(page)} LIMIT ${page.limit}`;
}

function direction({ order }: PageRequest): Sql {
  return raw(order === 'asc' ? 'ASC' : 'DESC');
}

function conditions({ ts, id, ...source }: Source, filter: PacketFilter, { order, after }: PageRequest): Sql {
  const { geoid, type, from, to, areas, threads } = filter;
  const list = [
    geoid === undefined ? empty : sql`${source.geoid} = ${geoid}`,
    type === undefined ? empty : sql`p.type = ${type}`,
    from === undefined ? empty : sql`${ts} >= ${from}::timestamptz`,
    to === undefined ? empty : sql`${ts} <= ${to}::timestamptz`,
    after
      ? sql`(${ts}, ${id}) ${raw(order === 'asc' ? '>' : '<')} (${after.ts}::timestamptz, ${after.id}::uuid)`
      : empty,
    messagesOf(threads),
    raw(NOT_ERASED),
    ...areas.flatMap(area => [inCells(area), exactly(area)]),
  ].filter(condition => condition !== empty);
  return join(list, ' AND ');
}

function messagesOf(threads: ReadableThreads | undefined): Sql {
  if (threads === undefined) return empty;
  if (threads === 'open') return sql`p.closed IS NULL`;
  return sql`(p.thread_id IS NULL OR p.thread_id = ANY (${threads}::uuid[]))`;
}

function inCells({ cells }: Area): Sql {
  return sql`(${join(
    cells.map(({ first, last }) => sql`p.cell BETWEEN ${first} AND ${last}`),
    ' OR ',
  )})`;
}

/** The exact condition, for the rows that the cells let through: degrees of a box, or the haversine distance. */
function exactly(area: Area): Sql {
  if (area.kind === 'box') {
    const between = sql`p.lat BETWEEN ${area.south} AND ${area.north}`;
    return area.west <= area.east
      ? sql`${between} AND p.lon BETWEEN ${area.west} AND ${area.east}`
      : sql`${between} AND (p.lon >= ${area.west} OR p.lon <= ${area.east})`;
  }
  const { lat, lon, metres } = area;
  return sql`2 * ${EARTH_RADIUS}::float8 * asin(least(1, sqrt(
      ${squaredSine(sql`p.lat - ${lat}::float8`)} +
      ${cosine(lat)}::float8 * CASE WHEN abs(p.lat) < ${TINY} THEN 1 ELSE cos(radians(p.lat)) END *
        ${squaredSine(sql`p.lon - ${lon}::float8`)}
    ))) <= ${metres}::float8`;
}

/** Degrees, a hundredth of a millimetre, below which an angle counts as 0: PostgreSQL refuses products that underflow. */
const TINY = 1e-10;

/** The square of the sine of half an angle in degrees. */
function squaredSine(degrees: Sql): Sql {
  return sql`CASE WHEN abs(${degrees}) < ${TINY} THEN 0 ELSE power(sin(radians(${degrees}) / 2), 2) END`;
}

function cosine(degrees: number): number {
  return Math.cos((degrees * Math.PI) / 180);
}
