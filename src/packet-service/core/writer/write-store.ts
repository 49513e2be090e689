import type pg from 'pg';
import { checkWrites } from '../../../platform/database/check-writes.ts';
import type { Database } from '../../../platform/database/database.ts';
import { COMMITTED_POSITION, positionIn } from '../../../platform/database/replicas/wal-position.ts';
import { insertStatements, type RowTable } from '../../../platform/database/rows.ts';
import { type PreparedStatement, sendTogether } from '../../../platform/database/send-together.ts';
import type { AsOf } from '../geoids/resolution.ts';
import { isFieldChange, requireFieldState } from '../geoids/store.ts';
import {
  type Claim,
  claimRow,
  claimTable,
  dropClaims,
  findAnswers,
  type StoredAnswer,
} from '../idempotency/store.ts';
import { type LogEvent, queueStatements } from '../log/store.ts';
import type { Packet } from '../packet-format/packet.ts';

/** A packet to write. */
export interface PacketWrite {
  packet: Packet;
  /** whether this process created the id, so that no other packet can have it */
  freshId: boolean;
  /** the request's Idempotency-Key with its answer */
  claim?: Claim | undefined;
  /** its log entry */
  event: LogEvent;
  /** rows of other features' tables, written in the same transaction: a chat message for lists and search */
  rows?: readonly TableRow[] | undefined;
  /** the state of the fields that its GeoIDs depend on; in another one it is not written */
  asOf?: Pick<AsOf, 'state'> | undefined;
}

/** One row for a table of the feature that a packet belongs to. */
export interface TableRow {
  table: RowTable;
  values: unknown[];
}

/** Takes a position of the write-ahead log at or after a commit. */
export type OnCommitted = (position: bigint) => void;

/** The outcome of a write: stored, or not stored because the id or the key existed before, or fields have changed. */
export type WriteOutcome =
  | { kind: 'stored' }
  | { kind: 'id-exists' }
  | { kind: 'outdated' }
  | { kind: 'key-exists'; answer: StoredAnswer };

/** Packets whose ids are certainly new. Checking for conflicts costs an index look-up per row. */
const packetTable: RowTable = {
  name: 'insert_packets',
  insert:
    'INSERT INTO packets (id, geoid, ts, type, thread_id, lat, lon, cell, header, body, footer, author, closed)',
  width: 13,
};

/** Packets whose ids may exist; the new ones are returned. */
const claimedPacketTable: RowTable = {
  ...packetTable,
  name: 'claim_packets',
  ending: 'ON CONFLICT DO NOTHING RETURNING id',
};

const geoidTable: RowTable = {
  name: 'insert_packet_geoids',
  insert: 'INSERT INTO packet_geoids (packet_id, geoid, ts)',
  width: 3,
  ending: 'ON CONFLICT DO NOTHING',
};

const attachmentTable: RowTable = {
  name: 'insert_packet_attachments',
  insert: 'INSERT INTO packet_attachments (packet_id, attachment_id, thread_id)',
  width: 3,
  ending: 'ON CONFLICT DO NOTHING',
};

/** The first reference to an attachment; later ones change nothing. */
const claimedAttachmentTable: RowTable = {
  name: 'insert_attachment_claims',
  insert: 'INSERT INTO attachment_claims (attachment_id, author, sha256)',
  width: 3,
  ending: 'ON CONFLICT DO NOTHING',
};

/** Nothing of a batch was stored, because fields that GeoIDs in it depend on have changed. */
export class FieldsChanged extends Error {}

/**
 * Writes a batch of packets in one transaction and returns the outcome of each; if it throws, nothing was stored.
 * Every table's rows are sorted by key, and tables are always written in the same order, so that processes which
 * write the same keys wait for one another instead of deadlocking.
 *
 * A batch whose COMMIT broke can be repeated: ids and keys that were committed are found and not written twice, and
 * each packet gets into the outbox once.
 *
 * @param connection one connection in pipeline mode, with no transaction open; when this throws, the transaction may
 *   still be open, and the connection must be closed
 * @param onCommitted called with a position of the write-ahead log after the commit, before this returns
 * @throws FieldsChanged
 */
export async function writePackets(
  connection: pg.ClientBase,
  writes: readonly PacketWrite[],
  onCommitted?: OnCommitted,
): Promise<WriteOutcome[]> {
  try {
    return await (writes.every(canPipeline)
      ? writePipelined(connection, writes, onCommitted)
      : writeChecked(connection, writes, onCommitted));
  } catch (error) {
    // The COMMIT may have succeeded: a retry must check whether the ids exist.
    for (const write of writes) write.freshId = false;
    throw isFieldChange(error) ? new FieldsChanged() : error;
  }
}

/** Checks the tables that a batch writes to: see `checkWrites`. */
export function checkPacketWrites(connection: Database, space: boolean): Promise<void> {
  return checkWrites(connection, 'packets', space);
}

/** Whether a write needs no answer before its COMMIT, because nothing of it can exist yet. */
export function canPipeline({ freshId, claim }: PacketWrite): boolean {
  return freshId && !claim;
}

/** Approximate rows to write for a packet: the search index of a message weighs as much as two rows. */
export function weightOf({ packet, rows = [] }: PacketWrite): number {
  return 1 + packet.additionalGeoids.length + packet.attachments.length + 3 * rows.length;
}

/** Nothing can exist yet: all statements are sent in one round trip. */
async function writePipelined(
  connection: pg.ClientBase,
  writes: readonly PacketWrite[],
  onCommitted: OnCommitted | undefined,
): Promise<WriteOutcome[]> {
  const packets = writes.map(({ packet }) => packet);
  const statements = [...packetStatements(packetTable, packets), ...dependentStatements(writes)];
  await commit(connection, [BEGIN, ...statements], onCommitted);
  return writes.map(() => ({ kind: 'stored' }));
}

/** Keys first, then ids; dependent rows are written only for packets that got both. */
async function writeChecked(
  connection: pg.ClientBase,
  writes: readonly PacketWrite[],
  onCommitted: OnCommitted | undefined,
): Promise<WriteOutcome[]> {
  const outcomes: WriteOutcome[] = writes.map(() => ({ kind: 'stored' }));
  await connection.query({ text: 'BEGIN' });
  await claimKeys(connection, writes, outcomes);
  await claimIds(connection, writes, outcomes);
  const stored = writes.filter((_, index) => outcomes[index]?.kind === 'stored');
  await commit(connection, dependentStatements(stored), onCommitted);
  return outcomes;
}

const BEGIN: PreparedStatement = { name: 'begin', text: 'BEGIN' };
const COMMIT: PreparedStatement = { name: 'commit', text: 'COMMIT' };

/** Sends statements, COMMIT and, if wanted, the question after the position that is then reached, in one round trip. */
async function commit(
  connection: pg.ClientBase,
  statements: readonly PreparedStatement[],
  onCommitted: OnCommitted | undefined,
): Promise<void> {
  const committed = sendTogether(connection, [...statements, COMMIT]);
  const position = onCommitted && connection.query(COMMITTED_POSITION);
  // It fails with the transaction.
  position?.catch(() => {});
  await committed;
  if (position) onCommitted(positionIn(await position));
}

async function claimKeys(
  connection: Database,
  writes: readonly PacketWrite[],
  outcomes: WriteOutcome[],
): Promise<void> {
  const claims = writes.flatMap(({ claim }, index) =>
    claim ? [{ claim, index, row: claimRow(claim) }] : [],
  );
  if (claims.length === 0) return;
  claims.sort((a, b) => compareRows(a.row, b.row));
  const results = await pipeline(
    connection,
    insertStatements(
      claimTable,
      claims.map(({ row }) => row),
    ),
  );
  const won = new Set(results.flatMap(({ rows }) => rows.map(row => keyOf(row as unknown as Claim))));
  const lost = claims.filter(({ claim }) => !won.delete(keyOf(claim)));
  if (lost.length === 0) return;
  const answers = await findAnswers(
    connection,
    lost.map(({ claim }) => claim),
  );
  lost.forEach(({ index }, at) => {
    outcomes[index] = { kind: 'key-exists', answer: answers[at] as StoredAnswer };
  });
}

async function claimIds(
  connection: Database,
  writes: readonly PacketWrite[],
  outcomes: WriteOutcome[],
): Promise<void> {
  const open = writes
    .map((write, index) => ({ write, index }))
    .filter(({ index }) => outcomes[index]?.kind === 'stored');
  if (open.length === 0) return;
  const packets = open.map(({ write }) => write.packet);
  const results = await pipeline(connection, packetStatements(claimedPacketTable, packets));
  const inserted = new Set(results.flatMap(({ rows }) => rows.map(({ id }) => id as string)));
  const existing = open.filter(({ write }) => !inserted.delete(write.packet.id));
  for (const { index } of existing) outcomes[index] = { kind: 'id-exists' };
  const unused = existing.flatMap(({ write }) => (write.claim ? [write.claim] : []));
  if (unused.length > 0) await dropClaims(connection, unused);
}

function packetStatements(table: RowTable, packets: readonly Packet[]): PreparedStatement[] {
  const sorted = packets.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return insertStatements(
    table,
    sorted.map(p => [
      p.id,
      p.geoid,
      p.ts,
      p.type,
      p.threadId,
      p.point?.lat,
      p.point?.lon,
      p.cell,
      p.header,
      p.body,
      p.footer,
      p.author,
      p.closed,
    ]),
  );
}

/** Ordered by attachment, then by packet: of several references to an attachment the first is kept. */
function attachmentClaims(writes: readonly PacketWrite[]): unknown[][] {
  return writes
    .flatMap(({ packet }) => packet.attachments.map(reference => ({ ...reference, author: packet.author })))
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
    .map(({ id, author, sha256 }) => [id, author, sha256 && Buffer.from(sha256, 'hex')]);
}

function dependentStatements(writes: readonly PacketWrite[]): PreparedStatement[] {
  const geoids = writes.flatMap(({ packet }) =>
    packet.additionalGeoids.map(geoid => [packet.id, geoid, packet.ts]),
  );
  const attachments = writes.flatMap(({ packet }) =>
    packet.attachments.map(({ id }) => [packet.id, id, packet.threadId]),
  );
  return [
    ...fieldChecks(writes),
    ...insertStatements(geoidTable, geoids.sort(compareRows)),
    ...insertStatements(attachmentTable, attachments.sort(compareRows)),
    ...insertStatements(claimedAttachmentTable, attachmentClaims(writes)),
    ...featureStatements(writes),
    ...queueStatements(writes.map(({ event }) => event)),
  ];
}

function fieldChecks(writes: readonly PacketWrite[]): PreparedStatement[] {
  const states: string[] = [];
  for (const { asOf } of writes) if (asOf && !states.includes(asOf.state)) states.push(asOf.state);
  return states.map(requireFieldState);
}

/** The rows of other features, table by table, in the order of the tables' names. */
function featureStatements(writes: readonly PacketWrite[]): PreparedStatement[] {
  const byTable = new Map<RowTable, unknown[][]>();
  for (const { rows } of writes) {
    if (!rows) continue;
    for (const { table, values } of rows) {
      const list = byTable.get(table);
      if (list) list.push(values);
      else byTable.set(table, [values]);
    }
  }
  const tables = [...byTable].sort(([a], [b]) => (a.name < b.name ? -1 : 1));
  return tables.flatMap(([table, rows]) => insertStatements(table, rows.sort(compareRows)));
}

/** Sends all statements at once and waits for all; throws the first error, not those that follow from it. */
async function pipeline(connection: Database, statements: pg.QueryConfig[]): Promise<pg.QueryResult[]> {
  const settled = await Promise.allSettled(statements.map(statement => connection.query(statement)));
  return settled.map(result => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

function compareRows(a: readonly unknown[], b: readonly unknown[]): number {
  for (let at = 0; at < a.length; at++) {
    const [left, right] = [a[at], b[at]];
    if (typeof left !== 'string' || typeof right !== 'string') return 0;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}

function keyOf({ caller, route, key }: Pick<Claim, 'caller' | 'route' | 'key'>): string {
  return JSON.stringify([caller, route, key]);
}
