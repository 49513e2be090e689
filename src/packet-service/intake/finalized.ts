import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { parseTimestamp } from '../../platform/time.ts';
import { packetHash } from '../packet/hash.ts';
import { canonicalJson } from '../packet/jcs.ts';
import { finishPacket, type Packet, type Point, writeFooter } from '../packet/packet.ts';
import type { postPacketSchema } from '../packets/schemas.ts';

/**
 * Checks a packet that a client finalized, and takes it as it is: its id, GeoID and time are what was hashed
 * and are not resolved again.
 *
 * @param threadId uuid form of the thread of a chat message
 * @param author the user of the token
 * @throws Problem invalid, naming the field: a timestamp that is none, or a hash that is not the packet's
 */
export function readFinalizedPacket(
  { Header, Body, Footer }: Static<typeof postPacketSchema.body>,
  { threadId, author }: { threadId: string | null; author: string | undefined },
): Packet {
  const timestamp = parseTimestamp(Header.timestamp);
  if (!timestamp) throw new Problem('invalid', 'Header.timestamp must be an ISO 8601 date-time');

  const header = canonicalJson(Header);
  const body = canonicalJson(Body);
  const hash = packetHash(header, body);
  if (hash !== Footer.hash) {
    throw new Problem('invalid', `Footer.hash is not the hash of this Header and Body, which is ${hash}`);
  }
  const { hash: _, ...rest } = Footer;
  const { id, geoid, type } = Header;
  const parts = {
    id,
    geoid,
    extraGeoids: extraGeoids(Body, geoid),
    timestamp,
    type,
    point: capturePoint(Body),
    threadId,
    author,
    body: Body,
  };
  return finishPacket(parts, header, body, writeFooter(hash, rest));
}

/** The point that queries by place look at, when the Body has one in the form that intake takes. */
function capturePoint(body: Record<string, unknown>): Point | null {
  const { lat, lon } = (body.capture_point ?? {}) as Record<string, unknown>;
  const valid =
    typeof lat === 'number' && typeof lon === 'number' && Math.abs(lat) <= 90 && Math.abs(lon) <= 180;
  return valid ? { lat, lon } : null;
}

/** The Body's `geoids`, as chat messages carry them, without the packet's own. */
function extraGeoids(body: Record<string, unknown>, own: string): string[] {
  if (!Array.isArray(body.geoids)) return [];
  const named = body.geoids.filter(
    geoid => typeof geoid === 'string' && geoid !== own && geoid.length <= 256,
  );
  return [...new Set(named as string[])].slice(0, 100);
}
