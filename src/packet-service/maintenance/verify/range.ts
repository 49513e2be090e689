import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { inSnapshot } from '../../../platform/database/snapshot.ts';
import { findMessages } from '../../collaboration/chat/messages/verify-store.ts';
import { geoidKey } from '../../core/log/store.ts';
import { findEntriesBetween, findQueued, type PacketEntry } from '../../core/log/verify-store.ts';
import { uuidToUlid } from '../../core/packet-format/ulid.ts';
import {
  findCopiesBetween,
  findSections,
  type IdRange,
  type PacketCopies,
  type RangeOfCopies,
} from '../../core/packets/verify-store.ts';
import { findErasures } from '../erasure/store.ts';
import {
  compareErased,
  comparePacket,
  hasAttachmentRows,
  type ReadPacket,
  readPacket,
  type Verification,
} from './packet.ts';

/** Something that is not as it was stored. */
export interface Mismatch {
  /** what it is about, such as `packet 01JD7Q2M8XW3N5R6T8V9Y0Z1A2` */
  subject: string;
  /** a column, or rows, that differ, such as `packets.geoid`; or a sentence */
  fault: string;
  /** set if the fault is that a file is not in the store */
  isMissingFile?: true;
}

/** A packet of which nothing but Header and hash are left. */
export interface ErasedPacket {
  /** ULID */
  packetId: string;
  at: Date;
}

/** The result for a range of packets. */
export interface RangeResult {
  /** how many there are, those that were erased among them */
  packets: number;
  /** how many messages of chat */
  messages: number;
  erased: ErasedPacket[];
  mismatches: Mismatch[];
}

/** Bytes of Header and Body beyond which a packet is read alone, so that a range takes at most some megabytes. */
const LARGE = 16 * 1024;

/** The entries of the log by packet. */
type Entries = Map<string, PacketEntry[]>;

/**
 * Verifies the packets of a range, and what is stored beside them, as they are at one moment. What differs is looked at
 * again: where packets are distributed, the moment is not the same on every server.
 */
export async function verifyRange(pool: pg.Pool, range: IdRange): Promise<RangeResult> {
  const result = await verifyOnce(pool, range);
  if (result.mismatches.length === 0) return result;
  const nameOf = ({ subject, fault }: Mismatch) => `${subject}: ${fault}`;
  const again = new Set((await verifyOnce(pool, range)).mismatches.map(nameOf));
  return { ...result, mismatches: result.mismatches.filter(mismatch => again.has(nameOf(mismatch))) };
}

function verifyOnce(pool: pg.Pool, range: IdRange): Promise<RangeResult> {
  return inSnapshot(pool, async database => {
    const [copies, list] = await Promise.all([
      findCopiesBetween(database, range, LARGE),
      findEntriesBetween(database, range),
    ]);
    const entries = Map.groupBy(list, ({ packetId }) => packetId);
    const result: RangeResult = { packets: 0, messages: 0, erased: [], mismatches: [] };
    const large = new Set(copies.large);
    const [apart, together] = [true, false].map(is =>
      copies.packets.filter(({ id }) => large.has(id) === is),
    );
    await verifyPackets(database, together ?? [], entries, result);
    // One by one, so that only one of them is held.
    for (const packet of apart ?? []) {
      const whole = { ...packet, ...(await findSections(database, packet.id)) };
      await verifyPackets(database, [whole], entries, result);
    }
    result.mismatches.push(...strays(copies, entries));
    return result;
  });
}

async function verifyPackets(
  database: Database,
  stored: readonly PacketCopies[],
  entries: Entries,
  result: RangeResult,
): Promise<void> {
  const packets = stored.map(readPacket);
  const keys = packets.flatMap(packet => (isErased(packet) ? [] : (packet.messageKey ?? [])));
  const erased = packets.filter(isErased).map(({ stored }) => stored.id);
  const unlogged = packets.filter(packet => !isLogged(packet, entries)).map(({ stored }) => stored.id);
  const [messages, erasures, queued] = await Promise.all([
    keys.length > 0 ? findMessages(database, keys) : [],
    erased.length > 0 ? findErasures(database, erased) : [],
    unlogged.length > 0 ? findQueued(database, unlogged) : [],
  ]);
  const messageOf = new Map(messages.map(message => [message.packetId, message]));
  const recorded = new Set(erasures);
  const queuedOf = Map.groupBy(queued, ({ packetId }) => packetId);

  for (const packet of packets) {
    const { id, erasedAt } = packet.stored;
    const packetId = uuidToUlid(id);
    const faults = erasedAt
      ? [...compareErased(packet), ...(recorded.has(id) ? [] : ['its erasure is not recorded'])]
      : wholeFaults(comparePacket(packet, messageOf.get(id)));
    faults.push(...logFaults(packet, entries.get(id) ?? [], queuedOf.get(id) ?? []));
    for (const fault of faults) result.mismatches.push({ subject: `packet ${packetId}`, fault });
    result.packets += 1;
    if (messageOf.has(id)) result.messages += 1;
    if (erasedAt) result.erased.push({ packetId, at: erasedAt });
  }
}

function isErased({ stored }: ReadPacket): boolean {
  return stored.erasedAt !== null;
}

function isOwn({ kind }: Pick<PacketEntry, 'kind'>): boolean {
  return kind === 'packet' || kind === 'chat.message';
}

/** Whether an entry says for everyone that a packet was erased; there is one for each recipient of a share, too. */
function isErasure({ kind, userId }: Pick<PacketEntry, 'kind' | 'userId'>): boolean {
  return kind === 'erased' && userId === null;
}

/** Whether the log has all entries of a packet; others may wait for their positions. */
function isLogged(packet: ReadPacket, entries: Entries): boolean {
  const own = entries.get(packet.stored.id) ?? [];
  return own.some(isOwn) && (!isErased(packet) || own.some(isErasure));
}

function wholeFaults({ hash, recomputed, mismatches }: Verification): string[] {
  if (hash === recomputed) return mismatches;
  return [`its hash is ${recomputed}, and its Footer says ${hash || 'none'}`, ...mismatches];
}

/** Faults of a packet's entries in the log. */
function logFaults(
  packet: ReadPacket,
  entries: readonly PacketEntry[],
  queued: readonly Pick<PacketEntry, 'kind' | 'userId'>[],
): string[] {
  const { threadId, geoid } = packet.stored;
  const faults: string[] = [];
  const own = entries.filter(isOwn);
  const count = own.length + queued.filter(isOwn).length;
  if (count !== 1) faults.push(`packet_log has ${count} entries of it`);
  if (isErased(packet) && ![...entries, ...queued].some(isErasure)) {
    faults.push('packet_log does not say that it was erased');
  }
  const kind = threadId === null ? 'packet' : 'chat.message';
  const key = geoid === '' ? null : geoidKey(geoid);
  if (own.some(entry => entry.kind !== kind)) faults.push('packet_log.kind');
  if (own.some(entry => entry.threadId !== threadId)) faults.push('packet_log.thread_id');
  if (own.some(entry => entry.geoidKey !== key)) faults.push('packet_log.geoid_key');
  const complete = isErased(packet) || hasAttachmentRows(packet);
  if (!complete && own.some(({ tagged }) => tagged)) faults.push('packet_attachments');
  return faults;
}

/** Rows that name packets which are not there. */
function strays({ packets, strayGeoids, strayAttachments }: RangeOfCopies, entries: Entries): Mismatch[] {
  const known = new Set(packets.map(({ id }) => id));
  const logged = entries.keys().filter(id => !known.has(id));
  const named: [string, Iterable<string>][] = [
    ['packet_geoids', strayGeoids],
    ['packet_attachments', strayAttachments],
    ['packet_log', logged],
  ];
  return named.flatMap(([table, ids]) =>
    [...ids].map(id => ({
      subject: `packet ${uuidToUlid(id)}`,
      fault: `is not there, and ${table} names it`,
    })),
  );
}
