import { hash, randomInt } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../platform/postgres/database.ts';
import { ADVISORY_LOCKS } from '../../platform/postgres/locks/advisory-locks.ts';

/** What an entry of the log is about. */
export type EventKind = 'packet' | 'chat.message' | 'share.created' | 'invitation.sent' | 'erased';

/** Something on its way into the log. */
export interface LogEvent {
  kind: EventKind;
  /** the packet, uuid form */
  packetId?: string;
  /** the thread of a chat message, uuid form */
  threadId?: string;
  /** the user whom a share or invitation is for */
  userId?: string;
  /** a packet's GeoIDs, its own first; empty texts are none */
  geoids?: readonly string[];
  /** what the live feed tells beside the above: from_user, created_at, share_id … */
  details?: Record<string, unknown>;
}

/** Events in one row of the queue, at most. */
const ROW_EVENTS = 1000;

/** Rows of the queue that one round moves, at most. */
const ROUND_ROWS = 64;

/** Told by every append, with the position of the last entry. */
const APPENDED = 'packet_log';
/** Told by those who queue events outside the batch writer. */
const QUEUED = 'packet_log_queued';
/** Told by an erasure. */
const ERASED = 'packet_erased';

const INSERT = `INSERT INTO packet_log_queue
  (kinds, packet_ids, thread_ids, user_ids, geoid_keys, further_keys, details)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;

/**
 * The statements that queue events for the log, for the transaction that brings the events about: the log will hold
 * them if it commits, and not otherwise. One row takes the events of a whole batch, as arrays.
 */
export function queueStatements(events: readonly LogEvent[]): pg.QueryConfig[] {
  const statements: pg.QueryConfig[] = [];
  for (let at = 0; at < events.length; at += ROW_EVENTS) {
    statements.push({
      name: 'queue_events',
      text: INSERT,
      values: rowOf(events.slice(at, at + ROW_EVENTS)),
    });
  }
  return statements;
}

/**
 * Queues events for the log in the caller's transaction and has them appended as soon as it commits. For what is
 * rare beside packets: the notice takes a lock of the whole database at commit.
 */
export async function queueEvents(database: Database, events: readonly LogEvent[]): Promise<void> {
  if (events.length === 0) return;
  for (const statement of queueStatements(events)) await database.query(statement);
  await database.query({ text: 'SELECT pg_notify($1, $2)', values: [QUEUED, ''] });
}

/** Removes what a packet's own entry repeats of it, as an erasure may. */
export async function eraseDetails(database: Database, packetId: string): Promise<void> {
  await database.query({
    text: `UPDATE packet_log SET details = NULL, further_keys = NULL
      WHERE packet_id = $1 AND kind IN ('packet', 'chat.message')`,
    values: [packetId],
  });
}

/** Has all processes told, at the commit of the caller's transaction, that a packet was erased. */
export async function queueErasure(database: Database): Promise<void> {
  await database.query({ text: 'SELECT pg_notify($1, $2)', values: [ERASED, ''] });
}

/** Columns that no event has a value for are null as a whole; most batches are observations alone. */
function rowOf(events: readonly LogEvent[]): unknown[] {
  const keys = events.map(({ geoids = [] }) => geoids.map(geoid => (geoid ? geoidKey(geoid) : undefined)));
  return [
    plainArray(events.map(({ kind }) => kind)),
    plainArray(events.map(({ packetId }) => packetId)),
    plainArray(events.map(({ threadId }) => threadId)),
    arrayOrNull(events.map(({ userId }) => userId)),
    plainArray(keys.map(([own]) => own)),
    arrayOrNull(keys.map(([, ...further]) => plainArray(further) ?? undefined)),
    arrayOrNull(events.map(({ details }) => details)),
  ];
}

function arrayOrNull<Value>(values: Value[]): Value[] | null {
  return values.every(value => value === undefined) ? null : values;
}

/** An array of values that need no quotes, as PostgreSQL reads it. pg would quote and escape each one. */
function plainArray(values: readonly (string | undefined)[]): string | null {
  if (values.every(value => value === undefined)) return null;
  return `{${values.map(value => value ?? 'NULL').join(',')}}`;
}

/**
 * The key by which the log finds a GeoID: the first 8 bytes of its SHA-256, as an index of all packets should hold no
 * more. Two GeoIDs out of ten million have the same one with a chance of 3 in a million.
 */
export function geoidKey(geoid: string): string {
  const digest = hash('sha256', geoid, 'hex');
  return BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString();
}

/** What one round did. */
export interface Round {
  /** position of the last entry; 0 in an empty log */
  head: number;
  /** whether entries were appended */
  appended: boolean;
  /** whether more may wait than one round moves */
  more: boolean;
  /** what the next round on the same connection begins with */
  horizon: string;
  /** latest time that any clock had shown before the round, in Unix milliseconds; null where that is not known */
  clock: number | null;
}

/** The horizon of a connection's first round. */
export const NO_HORIZON = '0';

/**
 * Moves what has been committed from the queue to the end of the log, in the order of its transactions. Those who
 * append take turns under a lock, which the server gives back at the end of the transaction; all statements go in
 * one round trip, so that the lock never waits for us.
 *
 * @param connection one connection in pipeline mode, with no transaction open; when this throws it must be closed
 * @param horizon `horizon` of the round before on this connection: all transactions below it had ended then, and
 *   what they queued was moved
 * @param now the time that is noted with what is appended
 */
export async function appendQueued(
  connection: Database,
  horizon: string,
  now: Date = new Date(),
): Promise<Round> {
  // Any 32 bits, as PostgreSQL's integer.
  const tag = randomInt(-(2 ** 31), 2 ** 31);
  const [, , , moved] = await Promise.all([
    connection.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' }),
    // Statistics of a table that is empty most of the time mislead: a scan would read all that is dead.
    connection.query({ text: 'SET LOCAL enable_seqscan = off' }),
    connection.query({
      name: 'append_lock',
      text: 'SELECT pg_advisory_xact_lock($1)',
      values: [ADVISORY_LOCKS.append],
    }),
    // A statement of its own after the lock: its snapshot must hold what the holder before committed.
    connection.query<Omit<Round, 'head'> & { head: string }>({
      name: 'append_queued',
      text: MOVE,
      values: [horizon, ROUND_ROWS, tag, now],
    }),
    connection.query({ text: 'COMMIT' }),
  ]);
  const round = moved.rows[0] as (typeof moved.rows)[number];
  return { ...round, head: Number(round.head), horizon: round.more ? horizon : round.horizon };
}

// One row of the queue holds a batch: only the few rows are sorted and counted, not their events.
const MOVE = `
  WITH taken AS (
    DELETE FROM packet_log_queue WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM packet_log_queue WHERE xid >= $1::xid8 ORDER BY xid, ctid LIMIT $2))
    RETURNING packet_log_queue.*, ctid AS place
  ), before AS (
    SELECT coalesce(max(position), 0) AS head,
      (SELECT clock FROM packet_log ORDER BY position DESC LIMIT 1) AS clock
    FROM packet_log
  ), placed AS (
    SELECT taken.*, head + sum(cardinality(kinds)) OVER (ORDER BY xid, place) - cardinality(kinds) AS start
    FROM taken, before
  ), result AS (
    SELECT count(*) AS rows, coalesce(max(start + cardinality(kinds)), (SELECT head FROM before)) AS head
    FROM placed
  ), appended AS (
    INSERT INTO packet_log (position, packet_id, geoid_key, further_keys, kind, thread_id, user_id, details, tag, clock)
    SELECT start + number, event.packet_id, geoid_key, further::bigint[], kind, thread_id, user_id, detail, $3::integer,
      CASE WHEN start + number = result.head THEN greatest($4::timestamptz, before.clock) END
    FROM before, result, placed,
      unnest(kinds, packet_ids, thread_ids, user_ids, geoid_keys, further_keys, details) WITH ORDINALITY
        AS event (kind, packet_id, thread_id, user_id, geoid_key, further, detail, number)
  )
  SELECT result.head, rows > 0 AS appended, rows = $2 AS more, pg_snapshot_xmin(pg_current_snapshot())::text AS horizon,
    extract(epoch FROM clock)::float8 * 1000 AS clock,
    CASE WHEN rows > 0 THEN pg_notify('${APPENDED}', result.head::text) END
  FROM result, before`;

/** Asks the server to tell this connection of appends, of events that were queued, and of erasures. */
export async function listen(connection: Database): Promise<void> {
  await connection.query({ text: `LISTEN ${APPENDED}` });
  await connection.query({ text: `LISTEN ${QUEUED}` });
  await connection.query({ text: `LISTEN ${ERASED}` });
}

/** What a notification tells: that events were queued, a packet erased, or the position of what is now the last entry. */
export function readNotice({ channel, payload }: pg.Notification): 'queued' | 'erased' | number | undefined {
  if (channel === ERASED) return 'erased';
  if (channel === QUEUED) return 'queued';
  return channel === APPENDED ? Number(payload) : undefined;
}
