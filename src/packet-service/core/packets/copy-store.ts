import pg from 'pg';
import sql, { empty, join, type Sql } from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';
import { beginSnapshot } from '../../../platform/database/snapshot.ts';
import { ADDITIONAL, conditionsOf, OWN, type PacketFilter, type Source } from './filter-store.ts';

/** The filter of an export; absent conditions do not filter. */
export interface ExportFilter extends PacketFilter {
  /** only this many of the newest packets */
  limit?: number | undefined;
}

/** Oldest or newest first, by time and then by id. */
export type Order = 'asc' | 'desc';

/** A range of time: after `after`, up to and including `until`, as PostgreSQL writes timestamps. */
export interface Window {
  after: string;
  until: string;
}

/**
 * A packet's body, or NULL if nothing in it becomes a triple: only attachments do, and the sender of a message
 * without a token. JCS sorts keys, so almost every body without attachments begins with an empty list
 * (docs/decisions/micro-optimisations.md).
 */
const BODY_THAT_TELLS = sql`CASE
  WHEN starts_with(body, '{"attachments":[]')
    AND (thread_id IS NULL OR author IS NOT NULL OR strpos(body, '"from_user"') = 0) THEN NULL ELSE body END`;

/**
 * The COPY statement whose rows become triples: header, thread, body, author, additional GeoID. Packets come in their
 * order on disk, so that the first is sent at once; their additional GeoIDs follow.
 *
 * @param window only packets of this time
 */
export function copyGraph(filter: ExportFilter, window?: Window): string {
  const source = chosenPackets(filter, sql`p.geoid, p.header, p.body, p.thread_id, p.author`, window);
  return withLiterals(sql`COPY (
    SELECT header, thread_id, ${BODY_THAT_TELLS}, author, NULL::text
    FROM ${source} AS chosen
    UNION ALL
    SELECT header, NULL, NULL, NULL, further.geoid
    FROM packet_geoids AS further JOIN ${source} AS chosen ON chosen.id = further.packet_id
    WHERE further.geoid <> chosen.geoid AND further.geoid <> ''
  ) TO STDOUT (FORMAT binary)`);
}

/** Which packets become rows of a table, and how. */
interface TableRows {
  /** of the rows; without one, packets come in their order on disk */
  order?: Order | undefined;
  /** only packets of this time */
  window?: Window | undefined;
  /** whether each row ends with the GeoID */
  withGeoid?: boolean;
}

/** The COPY statement whose rows become rows of tables: header, body, author, latitude and longitude as text. */
export function copyTable(
  filter: PacketFilter,
  { order, window, withGeoid = false }: TableRows = {},
): string {
  const packetGeoid = withGeoid ? sql`, p.geoid` : empty;
  const geoid = withGeoid ? sql`, geoid` : empty;
  const source = chosenPackets(filter, sql`p.header, p.body, p.author, p.lat, p.lon${packetGeoid}`, window);
  const sorted = order === undefined ? empty : ORDERS[order];
  return withLiterals(sql`COPY (
    SELECT header, body, author, lat::text, lon::text${geoid} FROM ${source} AS chosen${sorted}) TO STDOUT (FORMAT binary)`);
}

const ORDERS = { asc: sql` ORDER BY ts, id`, desc: sql` ORDER BY ts DESC, id DESC` };

/** A table expression of the packets, with these columns, id and ts. */
function chosenPackets({ limit, ...filter }: ExportFilter, columns: Sql, window?: Window): Sql {
  const chosen = (source: Source, also: Sql = empty) => sql`
    SELECT ${source.id} AS id, ${source.ts} AS ts, ${columns} FROM ${source.from}
    WHERE ${join([...conditionsOf(filter, source), ...within(window, source)], ' AND ')}${also}`;
  const newest = limit === undefined ? empty : sql` ORDER BY ts DESC, id DESC LIMIT ${Math.floor(limit)}`;
  if (filter.geoid === undefined) return sql`(${chosen(OWN)}${newest})`;
  const notOwn = sql` AND p.geoid <> ${filter.geoid}`;
  return sql`(SELECT * FROM (${chosen(OWN)} UNION ALL ${chosen(ADDITIONAL, notOwn)}) AS either${newest})`;
}

function within(window: Window | undefined, { ts }: Source): Sql[] {
  if (!window) return [];
  return [sql`${ts} > ${window.after}::timestamptz AND ${ts} <= ${window.until}::timestamptz`];
}

/** A statement with its values as literals: COPY takes no parameters. */
export function withLiterals({ strings, values }: Sql): string {
  return strings.reduce((text, next, at) => text + literal(values[at - 1]) + next);
}

function literal(value: unknown): string {
  if (typeof value === 'number' && Number.isFinite(value)) return value < 0 ? `(${value})` : String(value);
  if (typeof value === 'string') return pg.escapeLiteral(value);
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(quotedElement).join(',')}}`);
  throw new TypeError(`a ${typeof value} cannot be written as a literal`);
}

/** An element of an array's text form, https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function quotedElement(value: unknown): string {
  return `"${String(value).replaceAll(/["\\]/g, '\\$&')}"`;
}

/**
 * Opens the transaction in which an export reads a single snapshot. Literals rely on standard_conforming_strings, and
 * exact numbers on extra_float_digits, so both are set regardless of the server's settings.
 */
export async function beginExport(database: Database): Promise<void> {
  await beginSnapshot(database);
  await database.query({
    text: 'SET LOCAL standard_conforming_strings = on; SET LOCAL extra_float_digits = 1',
  });
}

export async function endExport(database: Database): Promise<void> {
  await database.query({ text: 'COMMIT' });
}

/** Terminates the server process of a connection whose reader is gone, even if it is not writing at the moment. */
export async function terminate(database: Database, pid: number): Promise<void> {
  await database.query({ text: 'SELECT pg_terminate_backend($1::int)', values: [pid] });
}

/**
 * The window that begins after a time and contains about `count` matching packets; packets with the same timestamp
 * are never split. Undefined if nothing follows.
 */
export async function nextWindow(
  database: Database,
  filter: ExportFilter,
  after: string,
  count: number,
): Promise<Window | undefined> {
  const { rows } = await database.query<{ until: string | null }>(sql`
    SELECT max(ts)::text AS until FROM (
      SELECT ts FROM ${chosenPackets(filter, sql`p.geoid`)} AS chosen
      WHERE ts > ${after}::timestamptz ORDER BY ts LIMIT ${count}) AS next`);
  const until = rows[0]?.until;
  return until ? { after, until } : undefined;
}

/** Like `nextWindow`, for the window that ends with a time. */
export async function windowBefore(
  database: Database,
  filter: ExportFilter,
  until: string,
  count: number,
): Promise<Window | undefined> {
  const chosen = chosenPackets(filter, sql`p.geoid`);
  const { rows } = await database.query<{ first: string | null }>(sql`
    SELECT min(ts)::text AS first FROM (
      SELECT ts FROM ${chosen} AS chosen WHERE ts <= ${until}::timestamptz ORDER BY ts DESC LIMIT ${count}) AS last`);
  const first = rows[0]?.first;
  if (!first) return undefined;
  const earlier = await database.query<{ ts: string | null }>(sql`
    SELECT max(ts)::text AS ts FROM ${chosen} AS chosen WHERE ts < ${first}::timestamptz`);
  return { after: earlier.rows[0]?.ts ?? '-infinity', until };
}
