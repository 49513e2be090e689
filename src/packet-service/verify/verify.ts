import { cellIndex, FINE_LEVEL, leafCell } from '../../geometry/cells.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { parseTimestamp } from '../../platform/time.ts';
import { displayed } from '../chat/messages/message.ts';
import { findMessage, type MessageCopy } from '../chat/messages/store.ts';
import { attachmentReferences } from '../packet/attachment-ids.ts';
import { packetHash } from '../packet/hash.ts';
import { capturePoint, hashOf, type Point } from '../packet/packet.ts';
import { parseUlid } from '../packet/ulid.ts';
import { findCopies, type PacketCopies, type Sections } from '../packets/read-store.ts';

/** What came of verifying a packet. */
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

/**
 * Hashes a packet again, and compares the columns and rows by which it is listed and found with what was hashed: what
 * was changed there alone would be served with a right hash.
 *
 * Not compared: what cannot be told from the packet, such as the further GeoIDs that an observation's place resolved
 * to, or depends on the Unicode version of who wrote it, as the words of the search index do.
 *
 * @param id uuid form
 * @returns undefined when there is no such packet
 */
export async function verifyPacket(database: Database, id: string): Promise<Verification | undefined> {
  const stored = await findCopies(database, id);
  if (!stored) return undefined;
  const recomputed = packetHash(stored.header, stored.body);
  const sections = {
    header: parsed(stored.header),
    body: parsed(stored.body),
    footer: parsed(stored.footer),
  };
  const { header, body, footer } = sections;
  if (!header || !body || !footer) {
    const unreadable = Object.entries(sections).filter(([, fields]) => !fields);
    const mismatches = unreadable.map(([name]) => `packets.${name}`);
    return { valid: false, hash: String(footer?.hash ?? ''), recomputed, mismatches };
  }
  const hash = String(footer.hash);

  const expected = expectedCopies(header, body);
  const mismatches = packetMismatches(stored, expected, body);
  if (expected.threadId !== null) {
    const key = { threadId: expected.threadId, ts: expected.ts, packetId: id };
    mismatches.push(...messageMismatches(await findMessage(database, key), stored, header, body));
  }
  return { valid: hash === recomputed && mismatches.length === 0, hash, recomputed, mismatches };
}

/** What a section holds; undefined when its text is no JSON object, as only a forger writes it. */
function parsed(section: string): Fields | undefined {
  try {
    const fields: unknown = JSON.parse(section);
    return typeof fields === 'object' && fields !== null ? (fields as Fields) : undefined;
  } catch {
    return undefined;
  }
}

/** What can be said of a packet that was erased: it stands in the log, with this Header and hash. */
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

/** The columns of `packets` as Header and Body tell them. */
function expectedCopies(header: Fields, body: Fields) {
  return {
    geoid: header.geoid as string,
    ts: parseTimestamp(String(header.timestamp))?.utc ?? '',
    type: header.type as string,
    threadId: header.type === 'chat_message' ? threadOf(body) : null,
  };
}

function threadOf({ thread_id }: Fields): string {
  return parseUlid(String(thread_id)) ?? '';
}

function packetMismatches(
  stored: PacketCopies,
  expected: ReturnType<typeof expectedCopies>,
  body: Fields,
): string[] {
  const point = expectedPoint(stored, body);
  const cell = point && cellIndex(leafCell(point.lat, point.lon), FINE_LEVEL);
  const named = new Set(attachmentReferences(body.attachments).map(({ id }) => id));
  const differs: Record<string, boolean> = {
    'packets.geoid': stored.geoid !== expected.geoid,
    'packets.ts': stored.ts !== expected.ts,
    'packets.type': stored.type !== expected.type,
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
