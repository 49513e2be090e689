import { afterEach, describe, expect, test } from 'vitest';
import {
  type Fault,
  type LoopbackRegistry,
  loopbackRegistry,
  type Ring,
} from '../../../../test/helpers/asset-registry.ts';
import { runningService } from '../../../../test/helpers/service.ts';
import { leafCell } from '../../../geometry/cells.ts';
import type { OutboundLimits } from '../../../platform/outbound/outbound.ts';
import { agstackResolver } from './agstack.ts';
import { pointGeoid, pointGeoidV1 } from './geoid.ts';

const TOKEN = 'secret-token-of-ours';
const KEYS = { apiKey: 'key-1', clientSecret: 'client-1' };
const FETCH = 'fetch-fields-for-a-point';

const box = (west: number, south: number, side: number): Ring => [
  [west, south],
  [west + side, south],
  [west + side, south + side],
  [west, south + side],
  [west, south],
];
const polygon = (ring: Ring) => ({ type: 'Polygon', coordinates: [ring] });

const opened: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map(server => server.stop()));
});

type Options = Parameters<typeof loopbackRegistry>[0];

async function connect(
  options: Partial<Options> = {},
  settings: { cacheMs?: number; limits?: Partial<OutboundLimits>; token?: string } = {},
) {
  const registry = await loopbackRegistry({ version: 1, token: TOKEN, ...options });
  opened.push(registry);
  const resolver = agstackResolver({
    url: registry.url,
    token: TOKEN,
    ...options.keys,
    ...settings,
    limits: { retries: 0, ...settings.limits },
  });
  return { registry, resolver };
}

/** The problem that a resolution ends with. */
function failure(
  resolution: Promise<unknown>,
): Promise<{ code: string; message: string; retryAfter?: number }> {
  return resolution.then(
    value => expect.fail(`resolved to ${JSON.stringify(value)}`),
    error => error,
  );
}

const versions: [name: string, options: Partial<Options>][] = [
  ['version 1', { version: 1 }],
  ['version 1 that lists points and puts the GeoID into the entry', { version: 1, newer: true }],
  ['version 2', { version: 2 }],
  ['version 2 that lists points and puts the GeoID into the entry', { version: 2, newer: true }],
];

describe.each(versions)('a registry of %s', (_name, options) => {
  test('gives a point in one field that field’s GeoID', async () => {
    const { registry, resolver } = await connect(options);
    const geoid = registry.addField(box(76, 30, 0.002));
    expect(await resolver.resolve({ lat: 30.001, lon: 76.001 })).toEqual({ geoid, additionalGeoids: [] });
    expect(registry.count('register-point')).toBe(0);
  });

  test('gives a point in several fields, in any order, the GeoID of the smallest, with the others as additional ones', async () => {
    const { registry, resolver } = await connect(options, { cacheMs: 0 });
    const middle = registry.addField(box(76.001, 30.001, 0.004));
    const small = registry.addField(box(76.002, 30.002, 0.001));
    const large = registry.addField(box(76, 30, 0.008));
    for (let k = 0; k < 10; k++) {
      const resolution = await resolver.resolve({ lat: 30.0025, lon: 76.0025 });
      expect(resolution).toEqual({ geoid: small, additionalGeoids: [middle, large] });
    }
  });

  test('gives a point in fields of one size the lower GeoID', async () => {
    const { registry, resolver } = await connect(options);
    const step = 2 ** -11;
    const geoids = [76, 76 + step, 76 + 2 * step].map(west => registry.addField(box(west, 30, 4 * step)));
    const [geoid, ...additionalGeoids] = geoids.toSorted();
    expect(await resolver.resolve({ lat: 30 + step, lon: 76 + 2.5 * step })).toEqual({
      geoid,
      additionalGeoids,
    });
  });

  test('gives a point in no field its own GeoID, the first time and when the point was registered before', async () => {
    const { registry, resolver } = await connect(options, { cacheMs: 0 });
    for (const [lat, lon] of [
      [40.7128, -74.006],
      [12.34567, 76.54321],
      [-33.9, 151.2],
      [1e-7, -1e-7],
    ] as const) {
      const expected = options.version === 1 ? pointGeoidV1(lat, lon) : pointGeoid(leafCell(lat, lon));
      for (let time = 0; time < 3; time++) {
        expect(await resolver.resolve({ lat, lon })).toEqual({ geoid: expected, additionalGeoids: [] });
      }
    }
    expect(registry.count('register-point')).toBe(12);
  });

  test('gives a neighbour of a registered point its own GeoID', async () => {
    const { resolver } = await connect(options);
    const first = await resolver.resolve({ lat: 30.00001, lon: 76.00001 });
    const other = await resolver.resolve({ lat: 30.000012, lon: 76.00001 });
    expect(other.geoid).not.toBe(first.geoid);
  });

  test('is asked about the equator and the zero meridian too', async () => {
    const { registry, resolver } = await connect(options);
    const geoid = registry.addField(box(-0.001, -0.001, 0.002));
    for (const point of [
      { lat: 0, lon: 0 },
      { lat: -0, lon: 0.0005 },
      { lat: 0.0005, lon: -0 },
    ]) {
      expect(await resolver.resolve(point)).toEqual({ geoid, additionalGeoids: [] });
    }
    const away = await resolver.resolve({ lat: 0, lon: 20 });
    expect(away.geoid).toBe(options.version === 1 ? pointGeoidV1(0, 20) : pointGeoid(leafCell(0, 20)));
  });
});

describe.each(versions)('a registry of %s, asked to register or unwilling,', (_name, options) => {
  test('registers a polygon, and knows it again when its ground is nearly the same', async () => {
    const { registry, resolver } = await connect(options);
    const { geoid } = await resolver.resolvePolygon(polygon(box(76, 30, 0.002)));
    expect(geoid).toMatch(/^[0-9a-f]{64}$/);
    const again = await resolver.resolvePolygon(polygon(box(76.0000001, 30, 0.002)));
    expect(again).toEqual({ geoid, additionalGeoids: [] });
    expect(await resolver.resolve({ lat: 30.001, lon: 76.001 })).toMatchObject({ geoid });
    expect(registry.count('register-field-boundary')).toBe(2);
  });

  test('turns down a polygon of more than 1000 acres', async () => {
    const { resolver } = await connect(options);
    const problem = await failure(resolver.resolvePolygon(polygon(box(76, 0, 0.019))));
    expect(problem).toMatchObject({ code: 'invalid', retryAfter: undefined });
    expect(problem.message).toBe(
      'geojson: GeoID resolution failed: the asset registry says: ' +
        'Cannot register a field with Area greater than 1000 acres',
    );
  });

  test('explains in its own words why it refuses', async () => {
    const { registry, resolver } = await connect(options);
    const shape = { type: 'MultiPolygon', coordinates: [[box(76, 30, 0.001)], [box(76.002, 30, 0.001)]] };
    const problem = await failure(resolver.resolvePolygon(shape));
    expect(problem.message).toBe(
      'geojson: GeoID resolution failed: the asset registry says: Register Field Boundary Error',
    );
    expect(problem.retryAfter).toBeUndefined();
    expect(registry.requests[0]?.body.wkt).toMatch(
      /^MULTIPOLYGON\(\(\(76 30, 76\.001 30, .*\)\), \(\(76\.002 30, /,
    );
  });

  test('that rejects our token decides nothing about the point, and the text does not contain the token', async () => {
    const { resolver } = await connect(options, { token: 'an-expired-token' });
    const problem = await failure(resolver.resolve({ lat: 30, lon: 76 }));
    expect(problem).toMatchObject({ code: 'invalid', retryAfter: 60 });
    expect(problem.message).toBe(
      'capture_point: GeoID resolution failed for now; try again later: the asset registry rejected our token',
    );
    expect(`${JSON.stringify(problem)}${(problem as unknown as Error).stack}`).not.toContain(
      'an-expired-token',
    );
  });
});

describe('matching fields', () => {
  test('several at once: the lowest GeoID is the polygon’s, the others are kept', async () => {
    const { registry, resolver } = await connect();
    const step = 1e-7;
    const geoids = [0, 1, 2].map(k =>
      registry.addField(box(76.00003 + k * step, 30.00003, 0.003 + k * 1e-5)),
    );
    const [geoid, ...additionalGeoids] = geoids.toSorted();
    const resolution = await resolver.resolvePolygon(polygon(box(76.00003, 30.00003, 0.003)));
    expect(new Set([...geoids]).has(resolution.geoid)).toBe(true);
    expect(resolution).toEqual({ geoid, additionalGeoids });
  });
});

describe('keys', () => {
  test('are sent only to the look-up that needs them', async () => {
    const { registry, resolver } = await connect({ keys: KEYS });
    await resolver.resolve({ lat: 30, lon: 76 });
    const [look, register] = registry.requests;
    expect(look?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      'api-keys-authentication': 'true',
      'api-key': 'key-1',
      'client-secret': 'client-1',
    });
    expect(register?.headers.authorization).toBe(`Bearer ${TOKEN}`);
    expect(register?.headers).not.toHaveProperty('client-secret');
  });

  test('that are invalid in headers are refused at the start without being shown', () => {
    const make = () => agstackResolver({ url: 'http://127.0.0.1:9', token: 'se\ncret' });
    expect(make).toThrow('must consist of visible ASCII characters');
    expect(make).not.toThrow(/cret/);
  });
});

describe('answers', () => {
  test('for one leaf cell are fetched once, also when many ask at the same moment', async () => {
    const { registry, resolver } = await connect();
    const point = { lat: 30.5, lon: 76.5 };
    const [first, ...others] = await Promise.all(Array.from({ length: 50 }, () => resolver.resolve(point)));
    for (const other of others) expect(other).toEqual(first);
    expect(await resolver.resolve(point)).toEqual(first);
    expect(registry.count(FETCH)).toBe(1);
  });

  test('are fetched again when they are old, because fields change', async () => {
    const { registry, resolver } = await connect({}, { cacheMs: 0 });
    const point = { lat: 30.5, lon: 76.5 };
    const before = await resolver.resolve(point);
    const geoid = registry.addField(box(76.499, 30.499, 0.002));
    expect(before.geoid).not.toBe(geoid);
    expect((await resolver.resolve(point)).geoid).toBe(geoid);
  });

  test('that failed are not kept', async () => {
    const { registry, resolver } = await connect();
    registry.misbehave('error', 1);
    const point = { lat: 30.5, lon: 76.5 };
    await failure(resolver.resolve(point));
    expect((await resolver.resolve(point)).geoid).toBe(pointGeoidV1(30.5, 76.5));
  });
});

describe('a registry that', () => {
  const faults: [fault: Fault, message: string][] = [
    ['silent', 'the asset registry did not respond in time'],
    ['gone', 'the asset registry could not be reached (UND_ERR_SOCKET)'],
    ['error', 'the asset registry returned 500'],
    ['busy', 'the asset registry returned 503'],
    ['moved', 'the asset registry returned 302'],
    ['not json', 'the asset registry returned 200 with a body that is not JSON'],
    ['huge', 'the asset registry sent more than 1048576 bytes'],
    ['wrong shape', 'the asset registry sent an unexpected response'],
    ['wrong geoids', 'the asset registry sent an unexpected field'],
  ];

  test.each(faults)('is %s gets another error than a bad point', async (fault, message) => {
    const { registry, resolver } = await connect(
      {},
      { limits: fault === 'silent' ? { timeoutMs: 100 } : {} },
    );
    registry.misbehave(fault);
    const problem = await failure(resolver.resolve({ lat: 30, lon: 76 }));
    expect(problem).toMatchObject({
      code: 'invalid',
      retryAfter: fault === 'busy' ? 120 : expect.any(Number),
    });
    expect(problem.message).toBe(
      `capture_point: GeoID resolution failed for now; try again later: ${message}`,
    );
  });

  test.each(['wrong geoids', 'wrong shape'] as const)(
    'sends %s for a polygon is not believed',
    async fault => {
      const { registry, resolver } = await connect();
      registry.misbehave(fault);
      const problem = await failure(resolver.resolvePolygon(polygon(box(76, 30, 0.001))));
      expect(problem).toMatchObject({ code: 'invalid', retryAfter: 60 });
    },
  );

  test('stumbles twice is asked a third time', async () => {
    const { registry, resolver } = await connect({}, { limits: { retries: 2 } });
    registry.misbehave('gone', 2);
    expect((await resolver.resolve({ lat: 30, lon: 76 })).geoid).toBe(pointGeoidV1(30, 76));
    expect(registry.count(FETCH)).toBe(3);
  });

  test('is down is left alone for a while', async () => {
    const { registry, resolver } = await connect({}, { limits: { failures: 3, restMs: 60_000 } });
    registry.misbehave('error');
    for (let k = 0; k < 10; k++) await failure(resolver.resolve({ lat: 30 + k, lon: 76 }));
    const problem = await failure(resolver.resolve({ lat: 50, lon: 76 }));
    expect(registry.requests).toHaveLength(3);
    expect(problem.message).toMatch(/: the asset registry is down$/);
    expect(problem.retryAfter).toBeGreaterThan(30);
  });

  test('at a wrong address is not mistaken for one without fields', async () => {
    const { registry } = await connect();
    const resolver = agstackResolver({ url: `${registry.url}/somewhere/`, token: TOKEN });
    const problem = await failure(resolver.resolve({ lat: 30, lon: 76 }));
    expect(problem.message).toMatch(/: the asset registry returned 404; is its address right\?$/);
  });
});

describe('a place', () => {
  test('off the globe is refused without asking the registry', async () => {
    const { registry, resolver } = await connect();
    for (const point of [
      { lat: 90.1, lon: 0 },
      { lat: 0, lon: -180.5 },
      { lat: Number.NaN, lon: 0 },
    ]) {
      const problem = await failure(resolver.resolve(point));
      expect(problem.message).toBe('capture_point must have lat from -90 to 90 and lon from -180 to 180');
    }
    const open = polygon(box(76, 30, 0.001).slice(0, 4));
    expect((await failure(resolver.resolvePolygon(open))).message).toMatch(
      /^geojson\.coordinates\[0\]: the ring is not/,
    );
    expect(registry.requests).toHaveLength(0);
  });
});

describe('the service with an external registry', () => {
  async function serve(registry: LoopbackRegistry) {
    const service = await runningService({ ASSET_REGISTRY_URL: registry.url, ASSET_REGISTRY_TOKEN: TOKEN });
    opened.push(service);
    const observe = (lat: number, lon: number) =>
      service.send('POST', '/intake/scouting', {
        observed_at: '2026-03-01T08:15:00Z',
        capture_point: { lat, lon },
      });
    return { service, observe };
  }

  test('stores an observation under the GeoIDs that the registry gives, and answers 400 when it cannot be reached', async () => {
    const registry = await loopbackRegistry({ version: 1, token: TOKEN });
    opened.push(registry);
    const { service, observe } = await serve(registry);
    const geoid = registry.addField(box(76, 30, 0.002));
    const sent = await observe(30.001, 76.001);
    expect(sent.status).toBe(201);
    const { body } = await service.send('GET', `/packets/${sent.body.packet_uuid}`);
    expect(body.Header.geoid).toBe(geoid);

    registry.misbehave('busy');
    const refused = await observe(31, 76);
    expect(refused.status).toBe(400);
    expect(refused.headers.get('retry-after')).toBe('120');
    expect(refused.body).toEqual({
      error:
        'capture_point: GeoID resolution failed for now; try again later: the asset registry returned 503',
    });
  });
});
