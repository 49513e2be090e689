import { hash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { S2CellId, S2LatLng, S2LatLngRect, S2RegionCoverer } from 'nodes2ts';

/**
 * An AgStack asset registry on loopback that answers as the public one does, its defects included: version 1
 * takes a coordinate of zero for a missing one, answers a repeated point with 400 and a GeoID that is not the
 * registered one, and turns down a field of more than 1000 acres with 200 and nothing but a message; both hand out
 * fields in no order. Its S2 cells are a library's, not ours.
 */
export interface LoopbackRegistry {
  url: string;
  /** The received requests, in order. */
  requests: { route: string; headers: IncomingMessage['headers']; body: Record<string, unknown> }[];
  /** How often a route was called. */
  count(route: string): number;
  /** Registers a field as an operator would; returns its GeoID. */
  addField(ring: Ring): string;
  /** Misbehaves from now on, or only for a number of requests. */
  misbehave(fault: Fault, times?: number): void;
  behave(): void;
  stop(): Promise<void>;
}

export type Fault =
  | 'silent'
  | 'gone'
  | 'error'
  | 'busy'
  | 'not json'
  | 'wrong shape'
  | 'wrong geoids'
  | 'huge'
  | 'moved';
/** Longitude and latitude of each corner, the first again at the end. */
export type Ring = [lon: number, lat: number][];

interface Options {
  version: 1 | 2;
  token?: string;
  /** Version 1 wants these for its look-ups, in addition to the token. */
  keys?: { apiKey: string; clientSecret: string };
  /** Newer sources put the GeoID of a fetched field into the entry and list registered points there too. */
  newer?: boolean;
}

interface Field {
  geoid: string;
  feature: object;
  level13: string[];
  level20: string[];
}

type Reply = [status: number, body: object];

export async function loopbackRegistry(options: Options): Promise<LoopbackRegistry> {
  const requests: LoopbackRegistry['requests'] = [];
  const book = new Book(options);
  let fault: Fault | undefined;
  let faulty = 0;
  let wait = Promise.withResolvers<void>();

  const server = createServer(async (request, response) => {
    const body = await readBody(request);
    const route = (request.url ?? '').slice(1);
    requests.push({ route, headers: request.headers, body });
    const now = faulty > 0 ? fault : undefined;
    faulty--;
    if (now && !(await answerFaultily(now, response, wait.promise))) return;
    const refused = book.refuse(route, request.headers);
    send(response, ...(refused ?? book.answer(route, body)));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    count: route => requests.filter(request => request.route === route).length,
    addField: ring => book.register(ring),
    misbehave(next, times = Infinity) {
      fault = next;
      faulty = times;
    },
    behave() {
      faulty = 0;
      wait.resolve();
      wait = Promise.withResolvers();
    },
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

class Book {
  readonly options: Options;
  readonly fields: Field[] = [];
  readonly points = new Set<string>();

  constructor(options: Options) {
    this.options = options;
  }

  refuse(route: string, headers: IncomingMessage['headers']): Reply | undefined {
    const { token, keys } = this.options;
    if (token !== undefined && headers.authorization !== `Bearer ${token}`)
      return this.error(401, 'Need to Login.');
    if (keys === undefined || route !== 'fetch-fields-for-a-point') return undefined;
    const known =
      headers['api-keys-authentication'] === 'true' &&
      headers['api-key'] === keys.apiKey &&
      headers['client-secret'] === keys.clientSecret;
    return known ? undefined : this.error(401, 'Invalid API Key or Client Secret');
  }

  answer(route: string, body: Record<string, unknown>): Reply {
    if (route === 'fetch-fields-for-a-point') return this.fetchFields(body);
    if (route === 'register-point') return this.registerPoint(String(body.wkt));
    if (route === 'register-field-boundary')
      return this.registerBoundary(String(body.wkt), Number(body.threshold ?? 95));
    const field = this.fields.find(({ geoid }) => route === `fetch-field/${geoid}`);
    if (!field) return this.error(404, 'Field not found, invalid Geo Id.');
    const details = { 'GEO Id': field.geoid, 'Geo Data': null, 'Geo JSON': field.feature };
    return [200, { message: 'Field fetched successfully.', ...details }];
  }

  fetchFields({ latitude, longitude }: Record<string, unknown>): Reply {
    const { version, newer } = this.options;
    if (version === 1 && (!latitude || !longitude))
      return this.error(400, 'Latitude and Longitude are required.');
    const leaf = S2CellId.fromPoint(S2LatLng.fromDegrees(Number(latitude), Number(longitude)).toPoint());
    const [level13, level20] = [leaf.parentL(13).toToken(), leaf.parentL(20).toToken()];
    const containing = this.fields.filter(
      field => field.level13.includes(level13) && field.level20.includes(level20),
    );
    const entries = containing.map(({ geoid, feature, level13: tokens }) =>
      newer
        ? { 'Geo Id': geoid, MaskingLevel: 'L1', 'Geo JSON': feature }
        : { [geoid]: { '13': tokens, boundary_type: 'manual', 'Geo JSON': feature } },
    );
    return [200, { 'Fetched fields': entries.sort(() => Math.random() - 0.5) }];
  }

  registerPoint(wkt: string): Reply {
    const [lon, lat] = numbers(wkt);
    if (!wkt.startsWith('POINT(') || lon === undefined || lat === undefined) {
      return this.error(400, 'Register Point Error: ParseException');
    }
    const leaf = S2CellId.fromPoint(S2LatLng.fromDegrees(lat, lon).toPoint());
    const geoid = this.options.version === 1 ? geoidOf(cover([[lon, lat]], 30)) : geoidOf([leaf.toToken()]);
    const feature = { type: 'Feature', properties: {}, geometry: { type: 'Point', coordinates: [lon, lat] } };
    if (!this.points.has(geoid)) {
      this.points.add(geoid);
      if (this.options.newer) this.keep(geoid, feature, [[lon, lat]]);
      return [200, { message: 'Point registered successfully.', 'Geo Id': geoid, 'Geo JSON': feature }];
    }
    const message = 'Point already registered.';
    if (this.options.version === 2) return [200, { message, 'Geo Id': geoid, 'Geo JSON': feature }];
    return [400, { message, 'Geo Id': geoidOf(cover([[lon, lat]], 20)), 'Geo JSON requested': feature }];
  }

  registerBoundary(wkt: string, threshold: number): Reply {
    const flat = numbers(wkt);
    const ring = flat.flatMap((lon, k) => (k % 2 === 0 ? [[lon, flat[k + 1]]] : [])) as Ring;
    if (!wkt.startsWith('POLYGON((') || ring.length < 4)
      return this.error(400, 'Register Field Boundary Error');
    if (acres(ring) > 1000) {
      return [200, { message: 'Cannot register a field with Area greater than 1000 acres' }];
    }
    const tokens = new Set(cover(ring, 20));
    const matched = this.fields.filter(({ level20 }) => {
      const shared = level20.filter(token => tokens.has(token)).length;
      return (shared / (level20.length + tokens.size - shared)) * 100 > threshold;
    });
    if (matched.length > 0) {
      const message = 'field already registered previously';
      return [400, { message, 'matched geo ids': matched.map(({ geoid }) => geoid) }];
    }
    return [200, { message: 'Field Boundary registered successfully.', 'Geo Id': this.register(ring) }];
  }

  register(ring: Ring): string {
    const feature = { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } };
    const coarse = geoidOf(cover(ring, 13));
    const taken = this.fields.some(({ geoid }) => geoid === coarse);
    return this.keep(taken ? geoidOf(cover(ring, 20)) : coarse, feature, ring);
  }

  keep(geoid: string, feature: object, ring: Ring): string {
    this.fields.push({ geoid, feature, level13: cover(ring, 13), level20: cover(ring, 20) });
    return geoid;
  }

  error(status: number, text: string): Reply {
    return [status, this.options.version === 1 ? { message: text } : { detail: text }];
  }
}

/** Answers with the fault, or returns true when an ordinary answer is to follow. */
async function answerFaultily(
  fault: Fault,
  response: ServerResponse,
  behaves: Promise<void>,
): Promise<boolean> {
  switch (fault) {
    case 'silent':
      await Promise.race([behaves, once(response, 'close')]);
      return !response.destroyed;
    case 'gone':
      response.destroy();
      return false;
    case 'error':
      send(response, 500, { message: 'Internal Server Error' });
      return false;
    case 'busy':
      response.setHeader('retry-after', '120');
      send(response, 503, { message: 'Service Unavailable' });
      return false;
    case 'not json':
      response.setHeader('content-type', 'text/html').end('<html><body>It works!</body></html>');
      return false;
    case 'wrong shape':
      send(response, 200, [{ 'Fetched fields': 'none', 'Geo Id': 7 }]);
      return false;
    case 'wrong geoids':
      send(response, 200, {
        'Fetched fields': [{ '../../etc/passwd': {} }],
        'Geo Id': 'XYZ',
        'matched geo ids': [1],
      });
      return false;
    case 'huge':
      response.end(`{"message":"${'x'.repeat(2 * 1024 * 1024)}"}`);
      return false;
    case 'moved':
      response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end();
      return false;
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return chunks.length === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** The tokens of the S2 cells of one level that cover the bounding box of the corners. */
function cover(corners: Ring, level: number): string[] {
  const [lons, lats] = [corners.map(([lon]) => lon), corners.map(([, lat]) => lat)];
  const box = S2LatLngRect.fromPointPair(
    S2LatLng.fromDegrees(Math.min(...lats), Math.min(...lons)),
    S2LatLng.fromDegrees(Math.max(...lats), Math.max(...lons)),
  );
  const coverer = new S2RegionCoverer().setMinLevel(level).setMaxLevel(level);
  return coverer.getCoveringCells(box).map(cell => cell.toToken());
}

function geoidOf(tokens: string[]): string {
  return hash('sha256', tokens.join(''), 'hex');
}

function numbers(wkt: string): number[] {
  return (wkt.match(/-?[0-9.]+/g) ?? []).map(Number);
}

/** Roughly: the shoelace formula on a plane around the first corner. */
function acres(ring: Ring): number {
  const metres = 111_320;
  const narrower = Math.cos(((ring[0]?.[1] ?? 0) * Math.PI) / 180);
  let twice = 0;
  for (const [index, [lon, lat]] of ring.entries()) {
    const [nextLon, nextLat] = ring[(index + 1) % ring.length] as [number, number];
    twice += lon * nextLat - nextLon * lat;
  }
  return (Math.abs(twice / 2) * metres * metres * narrower) / 4046.86;
}
