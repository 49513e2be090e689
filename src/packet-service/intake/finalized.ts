import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { hasOffset, parseTimestamp } from '../../platform/time.ts';
import type { KnownThread } from '../collaboration/chat/threads/thread-check.ts';
import { packetHash } from '../core/packet-format/hash.ts';
import { canonicalJson } from '../core/packet-format/jcs.ts';
import { isLanguageTag } from '../core/packet-format/language.ts';
import { capturePoint, finishPacket, type Packet, writeFooter } from '../core/packet-format/packet.ts';
import { ulidToUuid, uuidTime } from '../core/packet-format/ulid.ts';
import { refuseAhead } from './captured-time.ts';
import type { postPacketSchema } from './schemas.ts';
import { isJwe } from './scouting.ts';

/** A finalized packet. */
export type Finalized = Static<typeof postPacketSchema.body>;

/** The hashed sections of a finalized packet. */
export interface HashedSections {
  header: string;
  body: string;
}

/**
 * The canonical texts of a finalized packet.
 *
 * @throws Problem invalid when Footer.hash is not their hash
 */
export function hashedSections({ Header, Body, Footer }: Finalized): HashedSections {
  const header = canonicalJson(Header);
  const body = canonicalJson(Body);
  const hash = packetHash(header, body);
  if (hash === Footer.hash) return { header, body };
  throw new Problem('packet.wrong_hash', { field: 'Footer.hash', hash });
}

/**
 * Checks a finalized packet. Its id, GeoID and time are hashed and therefore used as sent.
 *
 * @param sections its canonical texts
 * @param thread of a chat message
 * @param author the user of the token
 * @throws Problem invalid, naming the field
 */
export function readFinalizedPacket(
  { Header, Body, Footer }: Finalized,
  { header, body }: HashedSections,
  { thread, author }: { thread: KnownThread | undefined; author: string | undefined },
): Packet {
  const timestamp = parseTimestamp(Header.timestamp);
  if (!timestamp || !hasOffset(Header.timestamp)) {
    throw new Problem('timestamp.without_offset', { field: 'Header.timestamp' });
  }
  refuseAhead(Date.parse(timestamp.utc), 'Header.timestamp');
  refuseAhead(uuidTime(ulidToUuid(Header.id)), 'Header.id');
  checkFooter(Footer, Body);
  const { hash, ...rest } = Footer;
  const { id, geoid, type } = Header;
  const parts = {
    id,
    geoid,
    additionalGeoids: additionalGeoids(Body, geoid),
    timestamp,
    type,
    point: capturePoint(Body),
    threadId: thread?.threadId ?? null,
    closed: thread?.closed ?? false,
    author,
    body: Body,
  };
  return finishPacket(parts, header, body, writeFooter(hash, rest));
}

/** @throws Problem invalid */
function checkFooter({ enc, lang }: Finalized['Footer'], { jwe }: Record<string, unknown>): void {
  if (enc !== 'none' && enc !== 'encrypted') throw new Problem('packet.wrong_enc', { field: 'Footer.enc' });
  if (enc === 'encrypted' && !isJwe(jwe)) {
    throw new Problem('packet.encrypted_without_jwe', { field: 'Footer.enc' });
  }
  if (!isLanguageTag(lang)) throw new Problem('packet.wrong_lang', { field: 'Footer.lang' });
}

/** The `geoids` in the Body of a chat message, without the packet's own. */
function additionalGeoids(body: Record<string, unknown>, own: string): string[] {
  if (!Array.isArray(body.geoids)) return [];
  const named = body.geoids.filter(
    geoid => typeof geoid === 'string' && geoid !== own && geoid.length <= 256,
  );
  return [...new Set(named as string[])].slice(0, 100);
}
