import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import { parseTimestamp } from '../../platform/time.ts';
import type { GeoidResolver, Resolution } from '../core/geoids/resolver.ts';
import { packetLanguage } from '../core/packet-format/language.ts';
import { makePacket, type Point } from '../core/packet-format/packet.ts';
import { isUlid, newUlid } from '../core/packet-format/ulid.ts';
import { refuseAhead } from './captured-time.ts';
import type { MakePacket } from './packet-write.ts';
import type { GeoJson, ScoutingBody } from './schemas.ts';

/**
 * Prepares the packet of an observation: resolves its location; the returned function makes the packet. The Body keeps
 * everything that was sent except observed_at, which is the Header's timestamp.
 *
 * @param from Content-Language and the user of the token
 * @throws Problem invalid, naming the field, also if the location has no GeoID
 */
export async function observationMaker(
  resolver: GeoidResolver,
  sent: Static<typeof ScoutingBody>,
  { contentLanguage, author }: { contentLanguage: string | undefined; author: string | undefined },
): Promise<MakePacket> {
  const { observed_at, ...body } = sent as Static<typeof ScoutingBody> & Record<string, unknown>;
  const timestamp = parseTimestamp(observed_at);
  if (!timestamp) {
    throw new Problem('timestamp.malformed', { field: 'observed_at' });
  }
  refuseAhead(Date.parse(timestamp.utc), 'observed_at');
  const enc = encryption(body);
  const { point, geoid, additionalGeoids, asOf } = await resolveLocation(resolver, sent);
  return () => ({
    asOf,
    packet: makePacket({
      id: newUlid(),
      geoid,
      additionalGeoids,
      timestamp,
      type: 'note',
      headerFields: headerFields(body),
      body: { ...body, message: sent.message ?? '', attachments: sent.attachments ?? [] },
      lang: packetLanguage(body.lang, contentLanguage),
      enc,
      point,
      author,
    }),
  });
}

async function resolveLocation(
  resolver: GeoidResolver,
  { capture_point, geojson: sentGeojson }: Static<typeof ScoutingBody>,
): Promise<Resolution & { point: Point | null }> {
  if (capture_point) {
    const point = { lat: capture_point.lat, lon: capture_point.lon };
    return { point, ...(await resolver.resolve(point, 'capture_point', { mayBeOutdated: true })) };
  }
  if (sentGeojson === undefined) {
    throw new Problem('observation.without_place', { field: 'capture_point' });
  }
  // The schema checks it if there is no capture point.
  const geojson = sentGeojson as Static<typeof GeoJson>;
  const geometry = geojson.type === 'Feature' ? geojson.geometry : geojson;
  if (geometry.type === 'Polygon')
    return { point: null, ...(await resolver.resolvePolygon(geometry, 'geojson')) };
  const [lon, lat] = geometry.coordinates as [number, number];
  if (Math.abs(lat) > 90 || Math.abs(lon) > 180) {
    throw new Problem('observation.wrong_coordinates', { field: 'geojson.coordinates' });
  }
  return {
    point: { lat, lon },
    ...(await resolver.resolve({ lat, lon }, 'geojson', { mayBeOutdated: true })),
  };
}

/** Well-formed tenant and prev also go into the Header. */
export function headerFields(body: Record<string, unknown>): Record<string, unknown> {
  const { tenant, prev } = body;
  const isObject = typeof tenant === 'object' && tenant !== null && !Array.isArray(tenant);
  return {
    ...(isObject && { tenant }),
    ...(typeof prev === 'string' && isUlid(prev) && { prev }),
  };
}

/** Five base64url parts, of which the encrypted key may be empty: RFC 7516 §7.1. */
const COMPACT_JWE = /^[\w-]+\.[\w-]*\.[\w-]*\.[\w-]+\.[\w-]*$/;

/** Footer.enc: `encrypted` if `enc` says so and the Body's `jwe` is a JWE; otherwise `enc` is an ordinary field. */
export function encryption({ enc, jwe }: Record<string, unknown>): string {
  return enc === 'encrypted' && isJwe(jwe) ? 'encrypted' : 'none';
}

/** Whether a value is a JSON Web Encryption (RFC 7516), compact or as JSON. */
export function isJwe(jwe: unknown): boolean {
  if (typeof jwe === 'string') return COMPACT_JWE.test(jwe);
  return typeof jwe === 'object' && jwe !== null && 'ciphertext' in jwe;
}
