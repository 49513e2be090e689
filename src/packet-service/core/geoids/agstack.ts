import { LRUCache } from 'lru-cache';
import { groundOfChecked, readBoundary } from '../../../geometry/boundary.ts';
import { leafCell, leafToken } from '../../../geometry/cells.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Fault, fault, type Reason, textOf } from '../../../platform/http/reasons/catalogue.ts';
import { outbound } from '../../../platform/outbound/outbound.ts';
import { isGeoid, pointGeoidV1 } from './geoid.ts';
import {
  checkPoint,
  type GeoidResolver,
  MAX_ADDITIONAL_GEOIDS,
  type Point,
  type Resolution,
  undecided,
} from './resolution.ts';

export interface AgstackSettings {
  url: string;
  token?: string | undefined;
  /** Some v1 installations need these two in addition to the token. */
  apiKey?: string | undefined;
  clientSecret?: string | undefined;
  /** How long an answer for a leaf cell is cached, in milliseconds; fields change. */
  cacheMs?: number;
  /** Limits of the HTTP client other than its own. */
  limits?: Parameters<typeof outbound>[0];
}

const FETCH_FIELDS = 'fetch-fields-for-a-point';
const CACHE_MS = 60_000;
const CACHED_POINTS = 100_000;
/** Maximum fields per answer; a longer list is an error of the registry. */
const MAX_FIELDS = 1000;
/** Degrees by which a latitude or longitude of exactly zero is moved, because v1 treats zero as missing. */
const NUDGE = 1e-9;
/** Characters of a registry's message in our error message. */
const MAX_REFUSAL_LENGTH = 200;
/** Retry-After while the registry cannot be used, in seconds. */
const UNUSABLE_SECONDS = 60;

/** The registry's answer. Nothing is assumed about the shape of its JSON. */
interface Answer {
  status: number;
  body: Record<string, unknown>;
}

type Call = (route: string, body: object) => Promise<Answer>;

/**
 * Resolves through an AgStack asset registry, version 1 or 2. A point gets the GeoID of the smallest field that holds
 * it; otherwise it is registered and gets its own. A polygon is registered, or gets the GeoID of the field that it
 * overlaps. Points of one leaf cell, about a square centimetre, are looked up once, even if requested at the same
 * time, and share the answer for a short time.
 *
 * @throws Error when the token or a key cannot be sent in a header; the text does not show it
 */
export function agstackResolver(
  settings: AgstackSettings,
  check: (geometry: unknown, path: string) => unknown = readBoundary,
): GeoidResolver {
  const call = caller(settings);
  const answers = new LRUCache<string, { resolution: Resolution; until: number }>({ max: CACHED_POINTS });
  const asking = new Map<string, Promise<Resolution>>();
  const cacheMs = settings.cacheMs ?? CACHE_MS;

  return {
    async resolve(point, path = 'capture_point') {
      checkPoint(point, path);
      const cell = leafToken(leafCell(point.lat, point.lon));
      const cached = answers.get(cell);
      if (cached && performance.now() < cached.until) return cached.resolution;
      let pending = asking.get(cell);
      if (!pending) {
        pending = requestPoint(call, point).finally(() => asking.delete(cell));
        asking.set(cell, pending);
      }
      const resolution = await pending.catch(error => {
        throw resolutionError(error, path);
      });
      answers.set(cell, { resolution, until: performance.now() + cacheMs });
      return resolution;
    },

    async resolvePolygon(geometry, path = 'geojson') {
      await check(geometry, path);
      return await requestPolygon(call, polygonWkt(geometry as Geometry)).catch(error => {
        throw resolutionError(error, path);
      });
    },
  };
}

/**
 * Looks a point in the Gulf of Guinea up, which registers nothing: whether the registry can be used.
 *
 * @throws Error that says why not
 */
export async function tryRegistry(settings: AgstackSettings): Promise<void> {
  const answer = await caller(settings)(FETCH_FIELDS, { latitude: NUDGE, longitude: NUDGE });
  if (answer.status !== 200) throw new Error(`the asset registry says: ${refusalText(answer)}`);
  readFields(answer.body['Fetched fields']);
}

/** The registry refused the location; the message is its own. */
class Refusal extends Error {}

/** The registry answers but cannot be used; an operator has to fix it, so the client may retry later. */
class Unusable extends Error {
  readonly faultAt: (field: string) => Fault;

  constructor(faultAt: (field: string) => Fault) {
    super(textOf(faultAt('a place')));
    this.faultAt = faultAt;
  }
}

/** A reason whose only parameter is the field. */
type PlainReason = Exclude<
  Extract<Reason, `geoid.registry_${string}`>,
  'geoid.registry_answers_status' | 'geoid.registry_away'
>;

/** @param reason what is wrong with the registry's answer */
function unusable(reason: PlainReason): Unusable {
  return new Unusable(field => fault(reason, { field }));
}

/** Turns a failure of or at the registry into the error of a failed resolution. */
function resolutionError(error: unknown, field: string): unknown {
  if (error instanceof Refusal)
    return new Problem('geoid.refused_by_registry', { field, message: error.message });
  if (error instanceof Unusable) return new Problem([error.faultAt(field)], { retryAfter: UNUSABLE_SECONDS });
  if (error instanceof Problem && error.code === 'unavailable') return undecided(field, error);
  return error;
}

function caller({ url, token, apiKey, clientSecret, limits }: AgstackSettings): Call {
  const bearer: Record<string, string> = token ? { authorization: `Bearer ${token}` } : {};
  const keys: Record<string, string> =
    apiKey && clientSecret
      ? { 'api-keys-authentication': 'true', 'api-key': apiKey, 'client-secret': clientSecret }
      : {};
  // fetch's error for an invalid header value contains the value, which would end up in a log.
  if (![...Object.values(bearer), ...Object.values(keys)].every(value => /^[\x20-\x7e]+$/.test(value))) {
    throw new Error('the token and the keys of the asset registry must consist of visible ASCII characters');
  }
  const send = outbound({ name: 'the asset registry', timeoutMs: 2_000, ...limits });
  const base = url.endsWith('/') ? url : `${url}/`;

  return async (route, body) => {
    // Only the route that needs the keys gets them.
    const headers = route === FETCH_FIELDS ? { ...bearer, ...keys } : bearer;
    const answer = await send({ method: 'POST', url: new URL(route, base), headers, body });
    const { status, body: sent } = answer;
    if (status === 401 || status === 403) throw unusable('geoid.registry_refuses_token');
    if (status !== 200 && status !== 400 && status !== 422) {
      throw new Unusable(field => fault('geoid.registry_answers_status', { field, status }));
    }
    if (!isObject(sent)) throw unusable('geoid.registry_answer_of_other_shape');
    return { status, body: sent };
  };
}

async function requestPoint(call: Call, { lat, lon }: Point): Promise<Resolution> {
  const answer = await call(FETCH_FIELDS, { latitude: lat || NUDGE, longitude: lon || NUDGE });
  if (answer.status !== 200) throw new Refusal(refusalText(answer));
  const [geoid, ...others] = readFields(answer.body['Fetched fields']);
  if (geoid !== undefined) return { geoid, additionalGeoids: others.slice(0, MAX_ADDITIONAL_GEOIDS) };

  const registered = await call('register-point', { wkt: `POINT(${decimal(lon)} ${decimal(lat)})` });
  // The GeoID in a 400 answer is not the registered one, so it is computed by the registry's rule.
  if (registered.status !== 200 && isKnown(registered))
    return { geoid: pointGeoidV1(lat, lon), additionalGeoids: [] };
  return { geoid: readGeoid(registered), additionalGeoids: [] };
}

async function requestPolygon(call: Call, wkt: string): Promise<Resolution> {
  const answer = await call('register-field-boundary', { wkt, threshold: 95 });
  const matched = answer.body['matched geo ids'];
  if (answer.status === 200 || !Array.isArray(matched))
    return { geoid: readGeoid(answer), additionalGeoids: [] };
  if (matched.length === 0 || matched.length > MAX_FIELDS || !matched.every(isGeoid)) {
    throw unusable('geoid.registry_geoids_of_other_form');
  }
  // Each of them nearly equals the polygon, so their areas cannot rank them.
  const [geoid, ...others] = [...new Set(matched)].sort() as [string, ...string[]];
  return { geoid, additionalGeoids: others.slice(0, MAX_ADDITIONAL_GEOIDS) };
}

function isKnown(answer: Answer): boolean {
  return /already registered/i.test(refusalText(answer));
}

/**
 * The "Geo Id" of an answer. A 200 without one is a refusal too: v1 refuses fields of more than 1000 acres that way.
 */
function readGeoid(answer: Answer): string {
  const geoid = answer.body['Geo Id'];
  if (answer.status !== 200 || geoid === undefined || geoid === null) throw new Refusal(refusalText(answer));
  if (!isGeoid(geoid)) throw unusable('geoid.registry_geoid_of_other_form');
  return geoid;
}

/** The registry's message: v1 has `message` and sometimes `error`, v2 `detail`, a text or an object. */
function refusalText({ status, body }: Answer): string {
  const { message, error, detail } = body;
  const texts = [message, error, detail, isObject(detail) ? detail.message : undefined];
  const text = texts.filter(part => typeof part === 'string').join(': ');
  // Foreign text is truncated and cleaned of characters that could break a log line or a page.
  return (
    text
      .replace(/[\p{C}\s]+/gu, ' ')
      .slice(0, MAX_REFUSAL_LENGTH)
      .toWellFormed() || `status ${status} without a reason`
  );
}

/**
 * The GeoIDs of "Fetched fields", smallest area first, lower GeoID first among equals, those of unknown area last.
 * Each entry is either `{"<GeoID>": {"Geo JSON": …}}` or, from newer registries, `{"Geo Id": …, "Geo JSON": …}`.
 * Registries store points as well as fields and return both here; points are ignored.
 */
function readFields(fields: unknown): string[] {
  if (!Array.isArray(fields) || fields.length > MAX_FIELDS)
    throw unusable('geoid.registry_fields_of_other_shape');
  const areas = new Map<string, number>();
  for (const field of fields) {
    if (!isObject(field)) throw unusable('geoid.registry_field_of_other_shape');
    const entries = 'Geo Id' in field ? [[field['Geo Id'], field] as const] : Object.entries(field);
    for (const [geoid, data] of entries) {
      if (!isGeoid(geoid) || !isObject(data)) throw unusable('geoid.registry_field_of_other_shape');
      const feature = data['Geo JSON'];
      const geometry = isObject(feature) && feature.type === 'Feature' ? feature.geometry : feature;
      if (isObject(geometry) && geometry.type === 'Point') continue;
      areas.set(geoid, areaOf(geometry));
    }
  }
  return [...areas.entries()]
    .sort(([a, areaA], [b, areaB]) => (areaA === areaB ? (a < b ? -1 : 1) : areaA - areaB))
    .map(([geoid]) => geoid);
}

function areaOf(geometry: unknown): number {
  try {
    return groundOfChecked(geometry).areaM2;
  } catch (error) {
    // The registry has the field even if we would refuse its boundary.
    if (error instanceof Problem) return Infinity;
    throw error;
  }
}

interface Geometry {
  type: 'Polygon' | 'MultiPolygon';
  coordinates: unknown[];
}

/** A checked polygon as well-known text. */
function polygonWkt({ type, coordinates }: Geometry): string {
  const rings = (polygon: number[][][]) =>
    `(${polygon.map(ring => `(${ring.map(([lon, lat]) => `${decimal(lon)} ${decimal(lat)}`).join(', ')})`).join(', ')})`;
  if (type === 'Polygon') return `POLYGON${rings(coordinates as number[][][])}`;
  return `MULTIPOLYGON(${(coordinates as number[][][][]).map(rings).join(', ')})`;
}

/** A number without an exponent, which not every parser of well-known text accepts. */
function decimal(value: number | undefined): string {
  const text = String(value);
  return text.includes('e') ? (value as number).toFixed(20) : text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
