import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { sumOf, tileAt } from '../../../../test/helpers/tiles.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

const WIDTH = 0.002;
/** The feature of a square field, by the number of its corner. */
function field(west: number, south: number, name?: string) {
  const ring = [
    [west, south],
    [west + WIDTH, south],
    [west + WIDTH, south + WIDTH],
    [west, south + WIDTH],
    [west, south],
  ];
  return {
    type: 'Feature',
    properties: name === undefined ? {} : { name },
    geometry: { type: 'Polygon', coordinates: [ring] },
  };
}

async function register(...features: object[]): Promise<string[]> {
  const { status, body, text } = await service.send('PUT', '/fields', {
    type: 'FeatureCollection',
    features,
  });
  expect(status, text).toBe(200);
  return body.fields.map(({ geoid }: { geoid: string }) => geoid);
}

const tile = (lon: number, lat: number, z: number) => {
  const phi = (lat * Math.PI) / 180;
  const y = (1 - Math.log(Math.tan(phi) + 1 / Math.cos(phi)) / Math.PI) / 2;
  return [z, Math.floor(((lon + 180) / 360) * 2 ** z), Math.floor(y * 2 ** z)] as const;
};

test('fields are counted at low zooms and drawn at high ones, from the answer of their registration on', async () => {
  const [first, second] = await register(field(30.06, -1.95, 'Kigali north'), field(30.064, -1.95));
  for (const z of [0, 1, 6, 13]) {
    const features = await tileAt(service, 'fields', tile(30.0605, -1.9495, z));
    expect([sumOf(features), features.every(({ layer }) => layer === 'fields')], `zoom ${z}`).toEqual([
      2,
      true,
    ]);
  }
  expect(
    (await tileAt(service, 'fields', tile(30.0605, -1.9495, 13))).map(({ properties }) => properties),
  ).toEqual(expect.arrayContaining([{ count: 1, cell: expect.stringMatching(/^[0-9a-f]+$/), geoid: first }]));
  const drawn = await tileAt(service, 'fields', tile(30.061, -1.949, 15));
  expect(drawn.find(({ properties }) => properties.geoid === first)).toMatchObject({
    properties: { geoid: first, name: 'Kigali north', area_m2: expect.any(Number) },
    geometry: { type: 'Polygon' },
  });
  expect(drawn.map(({ properties }) => properties.geoid)).toContain(second);
  expect(await tileAt(service, 'fields', tile(40, -1.949, 15))).toEqual([]);
});

test('the same ground counts once, and a deleted field not at all', async () => {
  const [geoid] = await register(field(10.5, 45.5));
  expect(await register(field(10.5, 45.5, 'again'))).toEqual([geoid]);
  const address = tile(10.501, 45.501, 12);
  expect(sumOf(await tileAt(service, 'fields', address))).toBe(1);
  expect((await service.send('DELETE', `/fields/${geoid}`)).status).toBe(204);
  expect(await tileAt(service, 'fields', address)).toEqual([]);
  expect(await tileAt(service, 'fields', tile(10.501, 45.501, 16))).toEqual([]);
  expect(await register(field(10.5, 45.5))).toEqual([geoid]);
  expect(sumOf(await tileAt(service, 'fields', address))).toBe(1);
});

test('a registration that fails counts nothing', async () => {
  const before = sumOf(await tileAt(service, 'fields', [0, 0, 0]));
  const open = { ...field(5, 5), geometry: { type: 'Polygon', coordinates: [[[5, 5]]] } };
  const body = { type: 'FeatureCollection', features: [field(5.1, 5.1), open] };
  expect((await service.send('PUT', '/fields', body)).status).toBe(400);
  expect(sumOf(await tileAt(service, 'fields', [0, 0, 0]))).toBe(before);
});

test('fields of an older version are counted when a process starts, once', async () => {
  await register(field(70.5, 20.5), field(70.51, 20.5));
  const before = sumOf(await tileAt(service, 'fields', [0, 0, 0]));
  await service.pool.query('DELETE FROM tile_cells WHERE layer = 2');
  await service.pool.query('DELETE FROM tile_fields');
  expect(sumOf(await tileAt(service, 'fields', [0, 0, 0]))).toBe(0);
  const others = [await runningService({}, service), await runningService({}, service)];
  await eventually(async () => sumOf(await tileAt(service, 'fields', [0, 0, 0])) === before);
  for (const other of others) await other.stop();
  expect(sumOf(await tileAt(service, 'fields', [0, 0, 0]))).toBe(before);
});

test('a tile draws a limited number of fields, and says that it is incomplete', async () => {
  const { rows } = await service.pool.query("SELECT boundary FROM fields WHERE name = 'Kigali north'");
  await service.pool.query(
    `INSERT INTO fields (geoid, name, boundary, area_m2, bounds, ground_cells, created_at)
     SELECT encode(sha256(n::text::bytea), 'hex'), 'bulk', $1, 1, box(point(30.06, -1.95), point(30.062, -1.948)), 1,
       '2026-01-01' FROM generate_series(1, 2500) AS n`,
    [rows[0].boundary],
  );
  const features = await tileAt(service, 'fields', tile(30.061, -1.949, 15));
  const drawn = features.filter(({ layer }) => layer === 'fields');
  const said = features.filter(({ layer }) => layer === 'truncated');
  expect(drawn).toHaveLength(2000);
  expect(said.map(({ properties }) => properties)).toEqual([{ read: 2000 }]);
});

test('with an asset registry, there are no tiles of fields', async () => {
  const other = await runningService({ ASSET_REGISTRY_URL: 'http://127.0.0.1:9' }, service);
  expect((await other.send('GET', '/tiles/fields/0/0/0.mvt')).status).toBe(501);
  expect((await other.send('GET', '/tiles/observations/0/0/0.mvt')).status).toBe(200);
  await other.stop();
});
