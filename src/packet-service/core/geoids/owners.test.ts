import sql from 'sql-template-tag';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, type RunningService, runningService } from '../../../../test/helpers/service.ts';
import {
  bearer,
  JWT_SECRET,
  secretToken,
  type TraceKeys,
  traceKeys,
} from '../../../../test/helpers/user-registry.ts';

type Headers = Record<string, string>;

let registry: TraceKeys;
let service: RunningService;
/** another process, which asks everyone for a token */
let required: RunningService;
/** another process, which looks at no token */
let off: RunningService;
let ana: Headers;
let ben: Headers;
let administrator: Headers;

beforeAll(async () => {
  registry = await traceKeys();
  service = await runningService(registry.settings);
  required = await runningService({ AUTH_MODE: 'required', ...registry.settings }, service);
  off = await runningService({ AUTH_MODE: 'off' }, service);
  ana = bearer(await registry.token('ana'));
  ben = bearer(await registry.token('ben'));
  administrator = bearer(await registry.token('root', { role: 'SYSTEM_ADMIN' }));
});
afterAll(async () => {
  await off.stop();
  await required.stop();
  await service.stop();
  await registry.stop();
});

/** A square with sides of a number of degrees. */
const square = (west: number, south: number, width: number) => ({
  type: 'Feature',
  properties: {},
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [west + width, south],
        [west + width, south + width],
        [west, south + width],
        [west, south],
      ],
    ],
  },
});

const put = (feature: object, headers?: Headers, at = service): Promise<Answer> =>
  at.send('PUT', '/fields', feature, headers);

async function registered(feature: object, headers?: Headers): Promise<string> {
  const answer = await put(feature, headers);
  expect(answer.status, answer.text).toBe(200);
  expect(answer.body.fields[0].status).toBe('registered');
  return answer.body.fields[0].geoid;
}

const remove = (geoid: string, headers?: Headers, at = service): Promise<Answer> =>
  at.send('DELETE', `/fields/${geoid}`, undefined, headers);

async function geoidAt(lat: number, lon: number, at = service, headers: Headers = {}): Promise<string> {
  const sent = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat, lon } };
  const { body } = await at.send('POST', '/intake/scouting', sent, headers);
  return (await at.send('GET', `/packets/${body.packet_uuid}`, undefined, headers)).body.Header.geoid;
}

test("nobody registers a field inside that of another token's user, but an administrator does", async () => {
  const outer = await registered(square(10, 10, 0.004), ana);
  const inner = square(10.001, 10.001, 0.001);
  const refused = await put(inner, ben);
  expect(refused.status, refused.text).toBe(403);
  expect(refused.body.error).toContain(outer);
  // Neither does what reaches out of it a little help, nor what comes along with it.
  expect((await put(square(9.9999, 10.001, 0.001), ben)).status).toBe(403);
  const far = square(11, 11, 0.001);
  const both = await put({ type: 'FeatureCollection', features: [far, inner] }, ben);
  expect([both.status, both.body.error]).toEqual([403, expect.stringMatching(/^features\[1\] /)]);
  expect(await geoidAt(10.0015, 10.0015)).toBe(outer);
  expect((await put(far, ben)).body.fields[0].status).toBe('registered');

  const own = await registered(square(10.002, 10.002, 0.001), ana);
  expect(await geoidAt(10.0025, 10.0025)).toBe(own);
  const theirs = await registered(inner, administrator);
  expect(await geoidAt(10.0015, 10.0015)).toBe(theirs);
});

test('neighbours, larger surrounding fields and the same ground again are allowed', async () => {
  const first = await registered(square(20, 20, 0.002), ana);
  // A fence that two surveys put ten metres apart.
  await registered(square(20.0019, 20, 0.0015), ben);
  await registered(square(19.999, 19.999, 0.006), ben);
  const again = await put(square(20, 20, 0.002), ben);
  expect(again.body.fields[0]).toMatchObject({ geoid: first, status: 'already_registered' });
});

test('without a token, nobody registers a field inside one that was registered with a token', async () => {
  const outer = await registered(square(30, 30, 0.004), ana);
  const [inner, far] = [square(30.001, 30.001, 0.001), square(32, 32, 0.001)];
  const refused = await put(inner);
  expect([refused.status, refused.body.error]).toEqual([401, expect.stringContaining(outer)]);
  expect(refused.headers.get('www-authenticate')).toBe('Bearer');
  // Neither does what reaches out of it a little help, nor what comes along with it.
  expect((await put(square(29.9999, 30.001, 0.001))).status).toBe(401);
  const both = await put({ type: 'FeatureCollection', features: [far, inner] });
  expect([both.status, both.body.error]).toEqual([401, expect.stringContaining('features[1]')]);
  expect(await geoidAt(30.0015, 30.0015)).toBe(outer);
  // Neighbours, larger fields around and the same ground are registered without a token.
  await registered(far);
  await registered(square(30.0039, 30, 0.0015));
  await registered(square(29.999, 29.999, 0.008));
  const again = await put(square(30, 30, 0.004));
  expect(again.body.fields[0]).toMatchObject({ geoid: outer, status: 'already_registered' });
});

test('inside a field that was registered without a token, and with AUTH_MODE=off, everyone registers fields', async () => {
  await registered(square(31, 31, 0.004));
  await registered(square(31.001, 31.001, 0.001), ben);
  const own = await registered(square(31.0025, 31.0025, 0.001));
  expect(await geoidAt(31.003, 31.003)).toBe(own);

  const outer = await registered(square(33, 33, 0.004), ana);
  const inner = await put(square(33.001, 33.001, 0.001), undefined, off);
  expect(inner.body.fields[0].status).toBe('registered');
  expect(await geoidAt(33.0015, 33.0015)).not.toBe(outer);
});

test('the registering user can delete a field without packets, and points there get the GeoID of the surrounding field', async () => {
  const around = await registered(square(40, 40, 0.006), ana);
  const geoid = await registered(square(40.001, 40.001, 0.001), ana);
  expect(await remove('0'.repeat(64), ana)).toMatchObject({ status: 404 });
  expect((await remove(geoid)).status).toBe(401);
  expect((await remove(geoid, ben)).status).toBe(403);
  expect((await remove(geoid, ana, required)).status).toBe(204);
  expect((await service.send('GET', `/fields/${geoid}`)).status).toBe(404);
  expect((await remove(geoid, ana)).status).toBe(404);
  const bbox = await service.send('GET', '/fields?bbox=40,40,40.01,40.01');
  expect(bbox.body.features.map(({ id }: { id: string }) => id)).toEqual([around]);
  expect(await geoidAt(40.0015, 40.0015)).toBe(around);

  expect(await remove(around, ana)).toMatchObject({ status: 409 });
  expect(await remove(around, administrator)).toMatchObject({ status: 409 });
});

test('a GeoID that was deleted is not given to another shape, which other processes may still know it for', async () => {
  const first = square(50, 50, 0.002);
  const geoid = await registered(first, ana);
  // Both processes know its boundary.
  expect(await geoidAt(50.0001, 50.0001, required, ana)).not.toBe(undefined);
  const second = square(50.0003, 50.0003, 0.0015);
  const unnamed = square(51, 51, 0.002);
  const other = await registered(unnamed, ana);
  expect((await remove(other, ana)).status).toBe(204);
  expect((await put(unnamed, ben)).body.fields[0]).toMatchObject({ geoid: other, status: 'registered' });
  expect((await remove(other, ben)).status).toBe(204);
  expect((await put(square(51.0003, 51.0003, 0.0015), ben)).body.fields[0].geoid).not.toBe(other);
  expect((await put(second, ana)).body.fields[0].geoid).not.toBe(geoid);
});

test('anyone can delete a field that was registered without a token, but only an administrator if tokens are required', async () => {
  const [first, second, third] = [
    await registered(square(60, 60, 0.001)),
    await registered(square(61, 61, 0.001)),
    await registered(square(62, 62, 0.001)),
  ];
  expect((await remove(first)).status).toBe(204);
  expect((await remove(second, ben)).status).toBe(204);
  expect((await remove(third, ben, required)).status).toBe(403);
  expect((await remove(third, administrator, required)).status).toBe(204);
});

test('a field is also kept by a packet that lists it among others', async () => {
  const outer = await registered(square(70, 70, 0.004), ana);
  const inner = await registered(square(70.001, 70.001, 0.001), ana);
  expect(await geoidAt(70.0015, 70.0015)).toBe(inner);
  expect((await remove(outer, ana)).status).toBe(409);
});

test('an administrator of another registry is a user like any other', async () => {
  for (const settings of [
    { USER_REGISTRY_JWT_SECRET: JWT_SECRET },
    { USER_REGISTRY_JWKS_URL: registry.settings.USER_REGISTRY_JWKS_URL as string },
    { ...registry.settings, USER_REGISTRY_URL: 'http://127.0.0.1:1/api' },
  ] as Record<string, string>[]) {
    const other = await runningService(settings, service);
    const sign = settings.USER_REGISTRY_JWT_SECRET ? secretToken : registry.token;
    const geoid = await registered(square(60, 1, 0.004), ana);
    const root = bearer(await sign('root', { role: 'SYSTEM_ADMIN' }));
    expect((await remove(geoid, root, other)).status).toBe(403);
    expect((await remove(geoid, administrator)).status).toBe(204);
    await other.stop();
  }
});

/** Longitudes and latitudes as the ring of a Feature. */
const area = (...rings: number[][][]) => ({
  type: 'Feature',
  properties: {},
  geometry: { type: 'MultiPolygon', coordinates: rings.map(ring => [ring]) },
});
const rectangle = (west: number, south: number, width: number, height: number) => [
  [west, south],
  [west + width, south],
  [west + width, south + height],
  [west, south + height],
  [west, south],
];

test('neither a long tail nor a part far away hides how much of a field lies inside that of another', async () => {
  const outer = await registered(square(80, 10, 0.01), ana);
  const [side, tail] = [80.0095, 80.000_001];
  const kite = [
    [80, 10],
    [side, 10],
    [side, 10.0095],
    [tail, 10.0095],
    [tail, 10.17],
    [80, 10.17],
    [80, 10],
  ];
  const torn = area(rectangle(80, 10, 0.0095, 0.0095), rectangle(80, 10.16, 0.0001, 0.0001));
  for (const feature of [area(kite), torn]) {
    expect((await put(feature)).status).toBe(401);
    const refused = await put(feature, ben);
    expect([refused.status, refused.body.error]).toEqual([403, expect.stringContaining(outer)]);
  }
  expect(await geoidAt(10.005, 80.005)).toBe(outer);
});

test('others can take at most half of a field, however many fields they register', async () => {
  const outer = await registered(square(81, 10, 0.01), ana);
  /** A third of it, and a little more outside. */
  const third = (n: number) =>
    area(rectangle(81 + 0.0033 * n, 10, 0.0033, 0.0099), rectangle(81 + 0.0033 * n, 10.03, 0.0033, 0.0102));
  await registered(third(0), ben);
  const refused = await put(third(1), ben);
  expect([refused.status, refused.body.error]).toEqual([
    403,
    expect.stringMatching(/more than half of field/),
  ]);
  expect(refused.body.error).toContain(outer);
  expect((await put(third(2))).status).toBe(401);
  expect(await geoidAt(10.005, 81.005)).toBe(outer);
  // Fields that its owner registers inside it do not restrict others, and neighbours are registered next to it.
  await registered(third(1), ana);
  await registered(square(81.0099, 10.0005, 0.009), ben);
});

/** Stores so many fields without a token in the north-east of the bounds of a field, with an area in m². */
async function crowd(west: number, south: number, { count, areaM2 }: { count: number; areaM2: number }) {
  const boundary = JSON.stringify({ type: 'Polygon', coordinates: [rectangle(west, south, 0.001, 0.001)] });
  await service.pool.query(sql`
    INSERT INTO fields (geoid, name, boundary, area_m2, bounds, ground_cells, created_at, author)
    SELECT encode(sha256(convert_to(${`${west}/${south}/`} || n, 'UTF8')), 'hex'), NULL, ${boundary}, ${areaM2}::float8,
      box(point(${west}, ${south}), point(${west + 0.001}, ${south + 0.001})), 1, now(), NULL
    FROM generate_series(1, ${count}::integer) AS n`);
}

const triangle = (west: number, south: number, width: number) =>
  area([
    [west, south],
    [west + width, south],
    [west, south + width],
    [west, south],
  ]);

test('neighbouring fields do not hide fields that take parts of a field', async () => {
  const outer = await registered(triangle(84, 10, 0.004), ana);
  // Larger than what takes parts, inside the bounds of the triangle, and not in it.
  await crowd(84.0035, 10.0035, { count: 250, areaM2: 90_000 });
  await registered(area(rectangle(83.999, 10, 0.00195, 0.003)), ben);
  const refused = await put(area(rectangle(84, 9.999, 0.003, 0.00195)), ben);
  expect([refused.status, refused.body.error]).toEqual([
    403,
    expect.stringMatching(/more than half of field/),
  ]);
  expect(refused.body.error).toContain(outer);
});

test('nobody else takes part of a field that has more neighbours than are measured', async () => {
  const outer = await registered(triangle(85, 10, 0.004), ana);
  await crowd(85.0035, 10.0035, { count: 2001, areaM2: 10 });
  const beside = square(85.0039, 9.999, 0.0011);
  const refused = await put(beside, ben);
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringMatching(/too many fields/)]);
  expect(refused.body.error).toContain(outer);
  expect((await put(beside)).status).toBe(401);
  await registered(beside, administrator);
  await registered(square(85.0045, 9.999, 0.001), ben);
});
