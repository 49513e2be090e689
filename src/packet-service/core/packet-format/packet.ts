import { cellIndex, FINE_LEVEL, leafCell } from '../../../geometry/cells.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Timestamp } from '../../../platform/time.ts';
import { type AttachmentReference, attachmentReferences } from './attachment-ids.ts';
import { packetHash } from './hash.ts';
import { canonicalJson } from './jcs.ts';
import { ulidToUuid } from './ulid.ts';

/** Maximum bytes of one packet's JSON. */
export const MAX_PACKET_BYTES = 512 * 1024;

export interface Point {
  /** degrees north, -90 to 90 */
  lat: number;
  /** degrees east, -180 to 180 */
  lon: number;
}

/** A packet as it is stored: its three sections as text, and the columns used by queries. */
export interface Packet {
  /** the ULID in Header.id, in the uuid form */
  id: string;
  geoid: string;
  additionalGeoids: readonly string[];
  /** its attachments that are stored here */
  attachments: readonly AttachmentReference[];
  /** Header.timestamp in UTC */
  ts: string;
  type: string;
  threadId: string | null;
  /** true if its thread was created with a token, else null, which takes no space */
  closed: true | null;
  /** the user of the token that it was sent with */
  author: string | null;
  point: Point | null;
  /** number of the point's level-20 S2 cell (geoids/cells.ts) */
  cell: number | null;
  header: string;
  body: string;
  footer: string;
}

/** The parts of a new packet. */
export interface PacketParts {
  /** ULID */
  id: string;
  geoid: string;
  additionalGeoids: readonly string[];
  timestamp: Timestamp;
  type: string;
  /** additional Header fields: tenant, prev */
  headerFields?: Record<string, unknown>;
  body: Record<string, unknown>;
  lang: string;
  enc?: string;
  tags?: string[];
  point?: Point | null;
  /** uuid form */
  threadId?: string | null;
  /** whether its thread was created with a token */
  closed?: boolean;
  /** the user of the token that it was sent with */
  author?: string | null | undefined;
}

/**
 * Makes a packet: canonical texts, hash and footer (docs/decisions/packets.md).
 *
 * @throws Problem too_large when its JSON exceeds MAX_PACKET_BYTES
 */
export function makePacket(parts: PacketParts): Packet {
  const { id, geoid, timestamp, type } = parts;
  const header = canonicalJson({ ...parts.headerFields, id, geoid, timestamp: timestamp.text, type });
  const body = canonicalJson(parts.body);
  const footer = writeFooter(packetHash(header, body), {
    enc: parts.enc ?? 'none',
    lang: parts.lang,
    ...(parts.tags && { tags: parts.tags }),
  });
  return finishPacket(parts, header, body, footer);
}

/**
 * The row of a packet from the texts of its three sections.
 *
 * @throws Problem too_large
 */
export function finishPacket(
  parts: Omit<PacketParts, 'headerFields' | 'lang' | 'enc' | 'tags'>,
  header: string,
  body: string,
  footer: string,
): Packet {
  // UTF-8 needs at most three bytes per code unit: the exact length of small packets is not computed.
  const units = header.length + body.length + footer.length;
  if (units * 3 > MAX_PACKET_BYTES && Buffer.byteLength(header + body + footer) > MAX_PACKET_BYTES) {
    throw new Problem('packet.too_large', { max: MAX_PACKET_BYTES });
  }
  const point = parts.point ?? null;
  return {
    id: ulidToUuid(parts.id),
    geoid: parts.geoid,
    additionalGeoids: parts.additionalGeoids,
    attachments: attachmentReferences(parts.body.attachments),
    ts: parts.timestamp.utc,
    type: parts.type,
    threadId: parts.threadId ?? null,
    closed: parts.closed ? true : null,
    author: parts.author ?? null,
    point,
    cell: point && cellIndex(leafCell(point.lat, point.lon), FINE_LEVEL),
    header,
    body,
    footer,
  };
}

/** The point used by queries by location, if the Body has one in the form that intake accepts. */
export function capturePoint(body: Record<string, unknown>): Point | null {
  const { lat, lon } = (body.capture_point ?? {}) as Record<string, unknown>;
  const valid =
    typeof lat === 'number' && typeof lon === 'number' && Math.abs(lat) <= 90 && Math.abs(lon) <= 180;
  return valid ? { lat, lon } : null;
}

/** A Footer as JSON text. */
export function writeFooter(hash: string, rest: Record<string, unknown>): string {
  return JSON.stringify({ hash, ...rest });
}

/** A Footer text whose first key is its hash, as {@link writeFooter} writes it. */
const HASH_FIRST = /^\{"hash":"([0-9a-f]{64})"/;

/**
 * The hash in a Footer text. It is first unless there are keys like "0", which JavaScript orders before all others:
 * only then is the text parsed, which would be 2 % of the work of a read.
 */
export function hashOf(footer: string): string {
  return HASH_FIRST.exec(footer)?.[1] ?? (JSON.parse(footer) as { hash: string }).hash;
}

/** The remains of an erased packet. */
export function spliceRest(sections: { header: string; footer: string }): string {
  return `{"Header":${sections.header},"Footer":${sections.footer}}`;
}

/** A packet's three section texts, joined into the packet's JSON. */
export function spliceSections(sections: { header: string; body: string; footer: string }): string {
  return `{"Header":${sections.header},"Body":${sections.body},"Footer":${sections.footer}}`;
}
