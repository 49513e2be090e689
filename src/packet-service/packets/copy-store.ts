import pg from 'pg';
import type { Database } from '../../platform/postgres/database.ts';
import type { ReadableThreads } from '../access/caller.ts';
import { NOT_ERASED } from './erase-store.ts';

/** What of the graph is exported; an absent condition does not narrow. */
export interface GraphFilter {
  /** the packet's GeoID or one of its further ones */
  geoid?: string | undefined;
  type?: string | undefined;
  /** one packet, uuid form */
  packetId?: string | undefined;
  /** the newest so many packets */
  limit?: number | undefined;
  /** the only threads whose messages are given; undefined gives all */
  threads?: ReadableThreads | undefined;
}

/** Part of the time axis: after `after`, up to and with `until`, as PostgreSQL writes moments. */
export interface Window {
  after: string;
  until: string;
}

/**
 * The COPY statement whose rows become triples: header, thread, body, author, further GeoID. Packets come in the order in which
 * they lie on the disk, so that the first goes out at once; their further GeoIDs follow.
 *
 * A body is only sent where something in it becomes a triple: its attachments, and the sender that a message names
 * where no token did. JCS sorts keys, so almost every body without attachments begins by saying so.
 *
 * @param window only packets of this time
 */
export function copyStatement(filter: GraphFilter, window?: Window): string {
  const source = chosenPackets(filter, window);
  return `COPY (
    SELECT header, thread_id,
      CASE WHEN starts_with(body, '{"attachments":[]')
        AND (thread_id IS NULL OR author IS NOT NULL OR strpos(body, '"from_user"') = 0) THEN NULL ELSE body END,
      author, NULL::text
    FROM ${source} AS chosen
    UNION ALL
    SELECT header, NULL, NULL, NULL, further.geoid
    FROM packet_geoids AS further JOIN ${source} AS chosen ON chosen.id = further.packet_id
    WHERE further.geoid <> chosen.geoid AND further.geoid <> ''
  ) TO STDOUT (FORMAT binary)`;
}

/** A table expression of the packets; COPY takes no parameters, so every value is written as a literal. */
function chosenPackets(filter: GraphFilter, window?: Window): string {
  const { geoid, type, packetId, limit, threads } = filter;
  const conditions = [
    type === undefined ? '' : `p.type = ${quoted(type)}`,
    packetId === undefined ? '' : `p.id = ${quoted(packetId)}::uuid`,
    messagesOf(threads),
    NOT_ERASED,
    window
      ? `p.ts > ${quoted(window.after)}::timestamptz AND p.ts <= ${quoted(window.until)}::timestamptz`
      : '',
  ].filter(condition => condition !== '');
  const where = ['true', ...conditions].join(' AND ');
  const columns = 'p.geoid, p.header, p.body, p.thread_id, p.author';
  const newest = limit === undefined ? '' : ` ORDER BY ts DESC, id DESC LIMIT ${Math.floor(limit)}`;
  if (geoid !== undefined) {
    return `(SELECT * FROM (
      SELECT p.id, p.ts, ${columns} FROM packets p WHERE p.geoid = ${quoted(geoid)} AND ${where}
      UNION ALL
      SELECT g.packet_id, g.ts, ${columns} FROM packet_geoids g JOIN packets p ON p.id = g.packet_id
      WHERE g.geoid = ${quoted(geoid)} AND p.geoid <> ${quoted(geoid)} AND ${where}) AS either${newest})`;
  }
  return `(SELECT p.id, p.ts, ${columns} FROM packets p WHERE ${where}${newest})`;
}

function messagesOf(threads: ReadableThreads | undefined): string {
  if (threads === undefined) return '';
  if (threads === 'open') return 'p.closed IS NULL';
  return `(p.thread_id IS NULL OR p.thread_id = ANY (${quoted(`{${threads.join(',')}}`)}::uuid[]))`;
}

function quoted(value: string): string {
  return pg.escapeLiteral(value);
}

/**
 * Opens the transaction in which an export reads: one moment for all of it. Literals are written for strings in which a
 * backslash is a character as others, which no setting of the server may change.
 */
export async function beginExport(database: Database): Promise<void> {
  await database.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
  await database.query({ text: 'SET LOCAL standard_conforming_strings = on' });
}

export async function endExport(database: Database): Promise<void> {
  await database.query({ text: 'COMMIT' });
}

/** Ends the server's side of a connection whose reader has gone, also when it is not writing to it just then. */
export async function terminate(database: Database, pid: number): Promise<void> {
  await database.query({ text: 'SELECT pg_terminate_backend($1)', values: [pid] });
}

/** Whether the packets lie on several servers (Citus), which gather a COPY as a whole before its first row. */
export async function isDistributed(database: Database): Promise<boolean> {
  const extension = await database.query({ text: `SELECT FROM pg_extension WHERE extname = 'citus'` });
  if (extension.rowCount === 0) return false;
  const table = await database.query({
    text: `SELECT FROM pg_dist_partition WHERE logicalrelid = 'packets'::regclass`,
  });
  return table.rowCount !== 0;
}

/**
 * The window that begins after a moment and holds about `count` of the packets that a filter leaves; of packets with
 * one timestamp all or none. Undefined when nothing follows.
 */
export async function nextWindow(
  database: Database,
  filter: GraphFilter,
  after: string,
  count: number,
): Promise<Window | undefined> {
  const { rows } = await database.query<{ until: string | null }>({
    text: `SELECT max(ts)::text AS until FROM (
        SELECT ts FROM ${chosenPackets(filter)} AS chosen
        WHERE ts > $1::timestamptz ORDER BY ts LIMIT $2) AS next`,
    values: [after, count],
  });
  const until = rows[0]?.until;
  return until ? { after, until } : undefined;
}
