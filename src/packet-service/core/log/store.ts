import { hash, randomInt } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';
import type { PreparedStatement } from '../../../platform/database/send-together.ts';

/** The kinds of log entries. */
export type EventKind = 'packet' | 'chat.message' | 'share.created' | 'invitation.sent' | 'erased';

/** An event to be written to the log. */
export interface LogEvent {
  kind: EventKind;
  /** the packet, uuid form */
  packetId?: string;
  /** the thread of a chat message, uuid form */
  threadId?: string;
  /** recipient of a share or invitation */
  userId?: string;
  /** a packet's GeoIDs, its own first; empty texts are ignored */
  geoids?: readonly string[];
  /** further fields of the live feed: from_user, created_at, share_id … */
  details?: Record<string, unknown>;
}

/** Maximum events in one row of the outbox. */
const ROW_EVENTS = 1000;

/** Maximum rows of the outbox that one round moves; only those of given transactions are moved all. */
const ROUND_ROWS = 64;

/** More rows than the transactions of one round have. */
const MAX_ROWS = 1_000_000;

/** Sent by every append, with the position of the last entry. */
const APPENDED = 'packet_log';
/** Sent by writers of events other than the batch writer. */
const QUEUED = 'packet_log_queued';
/** Sent by an erasure. */
const ERASED = 'packet_erased';

const COLUMNS = '(kinds, packet_ids, thread_ids, user_ids, geoid_keys, further_keys, details)';
const INSERT = `INSERT INTO packet_log_queue ${COLUMNS} VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const INSERT_IF = `INSERT INTO packet_log_queue ${COLUMNS}
  SELECT $1::packet_log_kind[], $2::uuid[], $3::uuid[], $4::text[], $5::bigint[], $6::text[], $7::jsonb[] WHERE $8`;

/**
 * The statements that write events to the outbox, for the transaction that causes them: they get into the log if and
 * only if it commits. One row holds the events of a whole batch, as arrays.
 */
export function queueStatements(events: readonly LogEvent[]): PreparedStatement[] {
  const statements: PreparedStatement[] = [];
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
 * Writes events to the outbox in the caller's transaction and notifies the sequencer at commit. For rare events only:
 * NOTIFY takes a lock of the whole database at commit.
 */
export async function queueEvents(database: Database, events: readonly LogEvent[]): Promise<void> {
  if (events.length === 0) return;
  for (const statement of queueStatements(events)) await database.query(statement);
  await database.query({ text: 'SELECT pg_notify($1, $2)', values: [QUEUED, ''] });
}

/** Like `queueEvents`, for one event that takes as long if it is not wanted. */
export async function queueEventIf(database: Database, isWanted: boolean, event: LogEvent): Promise<void> {
  await database.query({ text: INSERT_IF, values: [...rowOf([event]), isWanted] });
  await database.query({ text: 'SELECT pg_notify($1, $2)', values: [QUEUED, ''] });
}

/** Removes the details of a packet's log entry, for an erasure. */
export async function eraseDetails(database: Database, packetId: string): Promise<void> {
  await database.query({
    text: `UPDATE packet_log SET details = NULL, further_keys = NULL
      WHERE packet_id = $1 AND kind IN ('packet', 'chat.message')`,
    values: [packetId],
  });
}

/** Notifies all processes, at the commit of the caller's transaction, that a packet was erased. */
export async function queueErasure(database: Database): Promise<void> {
  await database.query({ text: 'SELECT pg_notify($1, $2)', values: [ERASED, ''] });
}

/** A column without any value is null as a whole; most batches contain only observations. */
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
 * The key by which the log finds a GeoID: the first 8 bytes of its SHA-256, to keep the index over all packets small.
 * Among ten million GeoIDs, the chance that any two share a key is 3 in a million.
 */
export function geoidKey(geoid: string): string {
  const digest = hash('sha256', geoid, 'hex');
  return BigInt.asIntN(64, BigInt(`0x${digest.slice(0, 16)}`)).toString();
}

/** The result of a round. */
export interface Round {
  /** position of the last entry; 0 in an empty log */
  head: number;
  /** whether entries were appended */
  appended: boolean;
  /** whether more may be left in the outbox */
  more: boolean;
  /** whether an event was left there because its packet cannot be read yet, on a cluster */
  waits: boolean;
  /** the horizon for the next round on the same connection */
  horizon: string;
  /** latest time of any appending process before the round, in Unix milliseconds; null if not known */
  clock: number | null;
}

/** The horizon of a connection's first round. */
export const NO_HORIZON = '0';

/**
 * Moves committed events from the outbox to the end of the log, in the order of their transactions. Appending
 * processes take turns under a lock, which the server releases at the end of the transaction; all statements are
 * pipelined in one round trip, so that the lock is not held while we wait.
 *
 * @param connection one connection in pipeline mode, with no transaction open; when this throws it must be closed
 * @param horizon `horizon` of the previous round on this connection: all transactions below it had ended, and their
 *   events were moved
 * @param now the time stored with the appended entries
 * @param only the transactions whose events are moved; without it, all
 */
export async function appendQueued(
  connection: Database,
  horizon: string,
  now: Date = new Date(),
  only?: readonly string[],
): Promise<Round> {
  // 32 random bits, as PostgreSQL's integer.
  const tag = randomInt(-(2 ** 31), 2 ** 31);
  const [, , , moved] = await Promise.all([
    connection.query({ text: 'BEGIN ISOLATION LEVEL READ COMMITTED' }),
    // The statistics of a table that is mostly empty mislead: a sequential scan would read all dead rows.
    connection.query({ text: 'SET LOCAL enable_seqscan = off' }),
    connection.query({
      name: 'append_lock',
      text: 'SELECT pg_advisory_xact_lock($1)',
      values: [ADVISORY_LOCKS.append],
    }),
    // A separate statement after the lock: its snapshot must include what the previous holder committed.
    connection.query<Omit<Round, 'head' | 'waits'> & { head: string }>({
      ...(only
        ? { name: 'append_some', text: MOVE_SOME, values: [horizon, MAX_ROWS, tag, now, only] }
        : { name: 'append_queued', text: MOVE, values: [horizon, ROUND_ROWS, tag, now] }),
    }),
    connection.query({ text: 'COMMIT' }),
  ]);
  const round = moved.rows[0] as (typeof moved.rows)[number];
  return { ...round, head: Number(round.head), waits: false, horizon: round.more ? horizon : round.horizon };
}

// One row of the outbox holds a batch: only the few rows are sorted and counted, not their events.
const moveSql = (also: string) => `
  WITH taken AS (
    DELETE FROM packet_log_queue WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM packet_log_queue WHERE xid >= $1::xid8 ${also} ORDER BY xid, ctid LIMIT $2))
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
const MOVE = moveSql('');
const MOVE_SOME = moveSql('AND xid = ANY ($5::xid8[])');

/** Listens on this connection for appends, events in the outbox, and erasures. */
export async function listen(connection: Database): Promise<void> {
  await connection.query({ text: `LISTEN ${APPENDED}` });
  await connection.query({ text: `LISTEN ${QUEUED}` });
  await connection.query({ text: `LISTEN ${ERASED}` });
}

/** The meaning of a notification: events in the outbox, an erasure, or the position of the last entry. */
export function readNotice({ channel, payload }: pg.Notification): 'queued' | 'erased' | number | undefined {
  if (channel === ERASED) return 'erased';
  if (channel === QUEUED) return 'queued';
  return channel === APPENDED ? Number(payload) : undefined;
}
