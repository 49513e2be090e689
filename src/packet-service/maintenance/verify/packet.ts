import { cellIndex, FINE_LEVEL, leafCell } from '../../../geometry/cells.ts';
import type { Database } from '../../../platform/database/database.ts';
import { parseJsonText } from '../../../platform/json-text.ts';
import { parseTimestamp } from '../../../platform/time.ts';
import { displayed } from '../../collaboration/chat/messages/message.ts';
import {
  findMessages,
  type MessageCopy,
  type MessageKey,
} from '../../collaboration/chat/messages/verify-store.ts';
import { attachmentReferences } from '../../core/packet-format/attachment-ids.ts';
import { packetHash } from '../../core/packet-format/hash.ts';
import { capturePoint, hashOf, type Point } from '../../core/packet-format/packet.ts';
import { parseUlid, uuidToUlid } from '../../core/packet-format/ulid.ts';
import type { Sections } from '../../core/packets/read-store.ts';
import { findCopies, type PacketCopies } from '../../core/packets/verify-store.ts';

/** The result of verifying a packet. */
export interface Verification {
  /** whether the hash is right and nothing that queries look at differs from what was hashed */
  valid: boolean;
  /** as the Footer says */
  hash: string;
  /** of the Header and Body as stored now */
  recomputed: string;
  /** columns, or rows, that differ from the Header and Body: `packets.geoid` */
  mismatches: string[];
}

type Fields = Record<string, unknown>;
type Expected = ReturnType<typeof expectedCopies>;

/** A stored packet, with what its Header and Body say of the other rows about it. */
export interface ReadPacket {
  stored: PacketCopies;
  header: Fields;
  body: Fields;
  /** as the Footer says; '' where it does not */
  hash: string;
  expected: Expected;
  /** where the row of a message must be; undefined for other packets, and where Header or Body do not tell */
  messageKey: MessageKey | undefined;
  /** sections that are not JSON objects, such as `packets.body` */
  unreadable: string[];
}

/**
 * Hashes a packet again, and compares the columns and rows by which it is listed and found with what was hashed: what
 * was changed there alone would be served with a right hash.
 *
 * Not compared: what cannot be told from the packet, such as the further GeoIDs that an observation's location resolved
 * to, or depends on the Unicode version of who wrote it, as the words of the search index do.
 *
 * @param id uuid form
 * @returns undefined if the packet is unknown
 */
export async function verifyPacket(database: Database, id: string): Promise<Verification | undefined> {
  const stored = await findCopies(database, id);
  if (!stored) return undefined;
  const packet = readPacket(stored);
  const messages = packet.messageKey ? await findMessages(database, [packet.messageKey]) : [];
  return comparePacket(packet, messages[0]);
}

/** Reads a packet's sections; what is not JSON is read as an empty object. */
export function readPacket(stored: PacketCopies): ReadPacket {
  const [header, body, footer] = [parsed(stored.header), parsed(stored.body), parsed(stored.footer)];
  const unreadable = [
    ...(header ? [] : ['packets.header']),
    ...(body ? [] : ['packets.body']),
    ...(footer ? [] : ['packets.footer']),
  ];
  const expected = expectedCopies(header ?? {}, body ?? {});
  const { threadId, ts } = expected;
  const messageKey = threadId && ts ? { threadId, ts, packetId: stored.id } : undefined;
  const hash = String(footer?.hash ?? '');
  return { stored, header: header ?? {}, body: body ?? {}, hash, expected, messageKey, unreadable };
}

function parsed(text: string): Fields | undefined {
  try {
    const value = parseJsonText(text);
    return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** @param message the row at `messageKey` */
export function comparePacket(packet: ReadPacket, message: MessageCopy | undefined): Verification {
  const { stored, header, body, hash, expected, unreadable } = packet;
  const recomputed = packetHash(stored.header, stored.body);
  const mismatches = [...unreadable];
  // Without Header and Body there is nothing to compare with.
  if (mismatches.length === 0) {
    mismatches.push(...packetMismatches(stored, expected, body));
    if (expected.threadId !== null) mismatches.push(...messageMismatches(message, stored, header, body));
  }
  return { valid: hash === recomputed && mismatches.length === 0, hash, recomputed, mismatches };
}

/** Differences of an erased packet: its Header must exist, and nothing of its Body. */
export function compareErased({ stored, expected, unreadable }: ReadPacket): string[] {
  const differs: Record<string, boolean> = {
    ...headerMismatches(stored, expected),
    'packets.body': stored.body !== '{}',
    'packets.lat': stored.lat !== null,
    'packets.lon': stored.lon !== null,
    'packets.cell': stored.cell !== null,
    packet_geoids: stored.additionalGeoids.length > 0,
    packet_attachments: stored.attachments.length > 0,
  };
  return unreadable.length > 0 ? unreadable : Object.keys(differs).filter(name => differs[name]);
}

/** Whether all attachments that a packet names have their row; versions before the table wrote none. */
export function hasAttachmentRows({ stored, body }: ReadPacket): boolean {
  const rows = new Set(stored.attachments.map(({ id }) => id));
  return attachmentReferences(body.attachments).every(({ id }) => rows.has(id));
}

/** The result for an erased packet: it is in the log, with this Header and hash. */
export function erasedPacket({ header, footer }: Sections, erasedAt: Date) {
  return {
    valid: false,
    erased: true as const,
    erased_at: erasedAt.toISOString(),
    header: JSON.parse(header),
    hash: hashOf(footer),
    mismatches: [],
  };
}

/** The columns of `packets` as Header and Body say them; '' where they do not say a well-formed one. */
function expectedCopies(header: Fields, body: Fields) {
  return {
    id: header.id,
    geoid: header.geoid as string,
    ts: parseTimestamp(String(header.timestamp))?.utc ?? '',
    type: header.type as string,
    threadId: header.type === 'chat_message' ? threadOf(body) : null,
  };
}

function threadOf({ thread_id }: Fields): string {
  return parseUlid(String(thread_id)) ?? '';
}

function headerMismatches(stored: PacketCopies, expected: Expected): Record<string, boolean> {
  return {
    'packets.id': uuidToUlid(stored.id) !== expected.id,
    'packets.geoid': stored.geoid !== expected.geoid,
    'packets.ts': stored.ts !== expected.ts,
    'packets.type': stored.type !== expected.type,
  };
}

function packetMismatches(stored: PacketCopies, expected: Expected, body: Fields): string[] {
  const point = expectedPoint(stored, body);
  const cell = point && cellIndex(leafCell(point.lat, point.lon), FINE_LEVEL);
  const named = new Set(attachmentReferences(body.attachments).map(({ id }) => id));
  const differs: Record<string, boolean> = {
    ...headerMismatches(stored, expected),
    'packets.thread_id': stored.threadId !== expected.threadId,
    'packets.lat': stored.lat !== (point?.lat ?? null),
    'packets.lon': stored.lon !== (point?.lon ?? null),
    'packets.cell': stored.cell !== cell,
    packet_geoids: !namesAll(stored.additionalGeoids, expected, body),
    // Packets older than the table have no rows in it.
    packet_attachments: stored.attachments.some(
      ({ id, threadId }) => !named.has(id) || threadId !== expected.threadId,
    ),
  };
  return Object.keys(differs).filter(name => differs[name]);
}

/** A finalized packet has the point of its capture_point alone, an observation that of its geojson too. */
function expectedPoint({ lat, lon }: PacketCopies, body: Fields): Point | null {
  const point = capturePoint(body);
  if (point || (lat === null && lon === null)) return point;
  const { geometry, coordinates } = (body.geojson ?? {}) as Fields;
  const position = coordinates ?? (geometry as Fields | undefined)?.coordinates;
  const [x, y] = Array.isArray(position) ? position : [];
  return typeof x === 'number' && typeof y === 'number' ? { lat: y, lon: x } : null;
}

/** Whether the further GeoIDs of a message have all that it names. */
function namesAll(
  further: readonly string[],
  { geoid, threadId }: { geoid: string; threadId: string | null },
  body: Fields,
) {
  if (threadId === null || !Array.isArray(body.geoids)) return true;
  const known = new Set([geoid, '', ...further]);
  return body.geoids.every(named => known.has(named));
}

function messageMismatches(
  row: MessageCopy | undefined,
  { additionalGeoids }: PacketCopies,
  header: Fields,
  { text }: Fields,
): string[] {
  if (!row) return ['chat_messages'];
  const differs: Record<string, boolean> = {
    'chat_messages.text': row.text !== text,
    'chat_messages.geoid': row.geoid !== header.geoid,
    'chat_messages.geoids': row.geoids.toSorted().join('\n') !== additionalGeoids.toSorted().join('\n'),
    'chat_messages.sent': (row.sent ?? displayed(row.utc)) !== header.timestamp,
  };
  return Object.keys(differs).filter(name => differs[name]);
}
