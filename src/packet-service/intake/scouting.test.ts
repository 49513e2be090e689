import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { newUlid } from '../core/packet-format/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

const POINT = { lat: 40.7128, lon: -74.006 };
const POINT_GEOID = '60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33';
const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: POINT };

async function stored(body: unknown, headers?: Record<string, string>) {
  const answer = await service.send('POST', '/intake/scouting', body, headers);
  expect(answer.status, answer.text).toBe(201);
  expect(Object.keys(answer.body)).toEqual(['packet_uuid']);
  return (await service.send('GET', `/packets/${answer.body.packet_uuid}`)).body;
}

async function refused(body: unknown): Promise<string> {
  const answer = await service.send('POST', '/intake/scouting', body);
  expect(answer.status, answer.text).toBe(400);
  expect(Object.keys(answer.body)).toEqual(['error']);
  return answer.body.error;
}

test('an observation becomes a note: its location becomes a GeoID, its time the timestamp, the rest the Body', async () => {
  const packet = await stored({
    ...observation,
    message: 'Roya en las hojas',
    attachments: ['att_1', { id: 'x', kind: 'photo' }],
    severity: 2,
    nested: { a: [null, true] },
  });
  expect(packet.Header).toEqual({
    id: packet.Header.id,
    geoid: POINT_GEOID,
    timestamp: '2026-03-01T08:15:00Z',
    type: 'note',
  });
  expect(packet.Body).toEqual({
    capture_point: POINT,
    message: 'Roya en las hojas',
    attachments: ['att_1', { id: 'x', kind: 'photo' }],
    severity: 2,
    nested: { a: [null, true] },
  });
  expect(packet.Footer).toEqual({ hash: packet.Footer.hash, enc: 'none', lang: 'und' });
});

test('message and attachments are optional, and empty by default', async () => {
  const { Body } = await stored(observation);
  expect(Body).toEqual({ capture_point: POINT, message: '', attachments: [] });
});

test('fields that the packet has names for stay in the Body as sent', async () => {
  const prev = newUlid();
  const packet = await stored({
    ...observation,
    type: 'weather',
    lang: 'sw',
    tenant: { coop: 'Kivu' },
    prev,
  });
  expect(packet.Header).toMatchObject({ type: 'note', tenant: { coop: 'Kivu' }, prev });
  expect(packet.Body).toMatchObject({ type: 'weather', lang: 'sw', tenant: { coop: 'Kivu' }, prev });
});

test('keys with characters that JSON escapes are stored as sent, whatever keys came before', async () => {
  for (const further of [
    { '\\': 1, '\\"': 1 },
    { '"': 1, '\n': 2 },
    { '"': 1, '"x': 2, 'é\t': 3 },
  ]) {
    const { Header } = await stored({ ...observation, further });
    const { text } = await service.send('GET', `/packets/${Header.id}`);
    const members = Object.entries(further).sort(([a], [b]) => (a < b ? -1 : 1));
    expect(text).toContain(`"further":${JSON.stringify(Object.fromEntries(members))}`);
  }
});

test('malformed tenant and prev stay only in the Body', async () => {
  const packet = await stored({ ...observation, tenant: 'Kivu', prev: 'the one before' });
  expect(packet.Header).not.toHaveProperty('tenant');
  expect(packet.Header).not.toHaveProperty('prev');
  expect(packet.Body).toMatchObject({ tenant: 'Kivu', prev: 'the one before' });
});

test('the timestamp keeps the offset it was sent with, and is UTC without one', async () => {
  const at = async (observed_at: string) => (await stored({ ...observation, observed_at })).Header.timestamp;
  expect(await at('2026-03-01T08:15:00.123+05:30')).toBe('2026-03-01T08:15:00.123+05:30');
  expect(await at('2026-03-01T08:15:00')).toBe('2026-03-01T08:15:00Z');
});

test('observed_at more than a day ahead is refused with the time of the server; up to a day is stored', async () => {
  const [day, minute] = [24 * 3600_000, 60_000];
  const observed = (ms: number) => ({ ...observation, observed_at: new Date(Date.now() + ms).toISOString() });
  await stored(observed(day - minute));
  const { status, body, headers } = await service.send('POST', '/intake/scouting', observed(day + minute));
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^observed_at is more than a day ahead/)]);
  expect(Math.abs(Date.parse(headers.get('date') as string) - Date.now())).toBeLessThan(minute);
  expect(await refused({ ...observation, observed_at: '9999-12-31T23:59:59Z' })).toContain('observed_at');
});

test("the language is the body's, else that of Content-Language, else undetermined", async () => {
  const language = async (body: object, header?: string) =>
    (await stored({ ...observation, ...body }, header === undefined ? {} : { 'content-language': header }))
      .Footer.lang;
  expect(await language({ lang: 'pt-BR' }, 'en')).toBe('pt-BR');
  expect(await language({ lang: 'not a language' }, 'rw, en')).toBe('rw');
  expect(await language({}, 'sw-TZ')).toBe('sw-TZ');
  expect(await language({ lang: 7 })).toBe('und');
});

test('an encrypted body is marked as such when it carries a JWE, and otherwise its enc is a further field', async () => {
  const jwe = 'eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVydGV4dA.dGFn';
  expect((await stored({ ...observation, enc: 'encrypted', jwe })).Footer.enc).toBe('encrypted');
  expect((await stored({ ...observation, enc: 'encrypted', jwe: { ciphertext: 'x' } })).Footer.enc).toBe(
    'encrypted',
  );
  expect((await stored({ ...observation, enc: 'rot13' })).Footer.enc).toBe('none');
  for (const further of [{ enc: 'encrypted' }, { enc: 'encrypted', jwe: 'no' }, { enc: { of: 1 }, jwe }]) {
    const packet = await stored({ ...observation, ...further });
    expect(packet.Footer.enc).toBe('none');
    expect(packet.Body).toMatchObject(further);
  }
});

test('geojson replaces a missing capture point; with both, the capture point wins', async () => {
  const point = { type: 'Point', coordinates: [POINT.lon, POINT.lat] };
  const { capture_point: _, ...timed } = observation;
  expect((await stored({ ...timed, geojson: point })).Header.geoid).toBe(POINT_GEOID);
  expect(
    (await stored({ ...timed, geojson: { type: 'Feature', properties: {}, geometry: point } })).Header.geoid,
  ).toBe(POINT_GEOID);
  const both = await stored({ ...observation, geojson: { type: 'Point', coordinates: [0, 0] } });
  expect(both.Header.geoid).toBe(POINT_GEOID);
  expect(both.Body.geojson).toEqual({ type: 'Point', coordinates: [0, 0] });
  const polygon = {
    type: 'Polygon',
    coordinates: [
      [
        [29.1, -1.2],
        [29.101, -1.2],
        [29.101, -1.199],
        [29.1, -1.199],
        [29.1, -1.2],
      ],
    ],
  };
  expect((await stored({ ...timed, geojson: polygon })).Header.geoid).toMatch(/^[0-9a-f]{64}$/);
});

test('with a capture point, geojson is an additional field, kept whatever it contains', async () => {
  const kept = [
    'POINT(1 2)',
    null,
    5,
    { type: 'Point', coordinates: [200, 100] },
    { type: 'LineString', coordinates: [] },
    [{ type: 'Feature' }],
  ];
  for (const geojson of kept) {
    const packet = await stored({ ...observation, geojson });
    expect([packet.Header.geoid, packet.Body.geojson]).toEqual([POINT_GEOID, geojson]);
  }
});

test('an attachment reference can be long in an object; a string that is too long is refused with its limit', async () => {
  const long = 'x'.repeat(2049);
  expect((await stored({ ...observation, attachments: [{ url: long }] })).Body.attachments).toEqual([
    { url: long },
  ]);
  expect((await stored({ ...observation, attachments: [long.slice(1)] })).Body.attachments[0]).toHaveLength(
    2048,
  );
  expect(await refused({ ...observation, attachments: ['a', long] })).toBe(
    'attachments.1 must have at most 2048 characters',
  );
  expect(await refused({ ...observation, attachments: [7] })).toBe(
    'attachments.0 must be a string or an object',
  );
});

test('missing fields and wrong types are refused by field', async () => {
  const { observed_at, capture_point } = observation;
  const wrong: [string, unknown][] = [
    ['observed_at', { capture_point }],
    ['observed_at', { capture_point, observed_at: null }],
    ['observed_at', { capture_point, observed_at: 1767225600 }],
    ['observed_at', { capture_point, observed_at: '2026-02-30T00:00:00Z' }],
    ['observed_at', { capture_point, observed_at: 'yesterday' }],
    ['capture_point', { observed_at }],
    ['capture_point', { observed_at, capture_point: null }],
    ['capture_point', { observed_at, capture_point: [1, 2] }],
    ['capture_point.lon', { observed_at, capture_point: { lat: 1 } }],
    ['capture_point.lat', { observed_at, capture_point: { lat: '1', lon: 2 } }],
    ['capture_point.lat', { observed_at, capture_point: { lat: 90.0001, lon: 2 } }],
    ['capture_point.lon', { observed_at, capture_point: { lat: 1, lon: -180.5 } }],
    ['message', { ...observation, message: null }],
    ['message', { ...observation, message: 5 }],
    ['attachments', { ...observation, attachments: 'file' }],
    ['attachments', { ...observation, attachments: [5] }],
    ['geojson', { observed_at, geojson: 'POINT(1 2)' }],
    ['geojson', { observed_at, geojson: { type: 'Point', coordinates: [200, 100] } }],
    [
      'geojson',
      {
        observed_at,
        geojson: {
          type: 'LineString',
          coordinates: [
            [1, 2],
            [3, 4],
          ],
        },
      },
    ],
    ['a[0].n', `{"observed_at":"2026-03-01T08:15:00Z","a":[{"n":9007199254740993}]}`],
    ['the body', []],
    ['the body', 'null'],
    ['the body', '{"observed_at":'],
  ];
  for (const [field, body] of wrong) {
    expect(await refused(body), JSON.stringify(body)).toMatch(
      new RegExp(`^${field.replace(/[[\].]/g, '\\$&')}\\b`),
    );
  }
});

test('in strict mode a point outside every registered field is refused', async () => {
  const strict = await runningService({ ASSET_REGISTRY_STRICT: 'true' }, service);
  const answer = await strict.send('POST', '/intake/scouting', observation);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatch(/capture_point|GeoID/);
  await strict.stop();
});
