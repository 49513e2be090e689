import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { programPath, testWith } from '../../../../test/helpers/debian.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { endExportingSessions, exportingSessions } from '../../../../test/helpers/exports.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { insertFields } from '../../../../test/helpers/many-fields.ts';
import { rawConnection } from '../../../../test/helpers/raw.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';

const FIELDS = 3_000;
let service: RunningService;
let empty: RunningService;
beforeAll(async () => {
  empty = await runningService();
  service = await runningService();
  await insertFields(service.pool, FIELDS, 5_000);
});
afterAll(async () => {
  await service.stop();
  await empty.stop();
});

const PATH = '/fields.geojson';
interface Feature {
  id: string;
  properties: { name: string | null };
}

/** All fields of a filter, page by page. */
async function paged(query = ''): Promise<Feature[]> {
  const found: Feature[] = [];
  for (let cursor: string | undefined; ; ) {
    const path = `/fields?limit=1000${query}${cursor === undefined ? '' : `&cursor=${cursor}`}`;
    const { body } = await service.send('GET', path);
    found.push(...body.features);
    cursor = body.next_cursor;
    if (cursor === undefined) return found;
  }
}

const byId = (features: Feature[]) => features.toSorted((a, b) => (a.id < b.id ? -1 : 1));
const exporting = () => exportingSessions(service.pool);

test('the file has every field, with what the pages say of each', async () => {
  const { status, headers, body, text } = await service.send('GET', PATH);
  expect([status, headers.get('content-type')]).toEqual([200, 'application/geo+json; charset=utf-8']);
  expect(headers.get('content-disposition')).toMatch(
    /^attachment; filename="fields-\d{4}-\d\d-\d\d\.geojson"/,
  );
  expect(Object.keys(body)).toEqual(['type', 'features']);
  expect(body.features).toHaveLength(FIELDS);
  expect(byId(body.features)).toEqual(byId(await paged()));
  expect(text.split('\n').length).toBeGreaterThan(FIELDS);
});

test('bbox selects the same fields as on pages, also across the date line', async () => {
  const ring = (west: number) => [
    [west, 5],
    [west + 0.001, 5],
    [west + 0.001, 5.001],
    [west, 5.001],
    [west, 5],
  ];
  for (const west of [179.9985, -179.999]) {
    const geometry = { type: 'Polygon', coordinates: [ring(west)] };
    const registered = await service.send('PUT', '/fields', { type: 'Feature', geometry });
    expect(registered.status, registered.text).toBe(200);
  }
  for (const bbox of ['20,0,21,2', '20.5,1,20.5,1', '179,4,-179,6', '-180,-90,180,90', '0,0,1,1']) {
    const { body } = await service.send('GET', `${PATH}?bbox=${bbox}`);
    expect(byId(body.features), bbox).toEqual(byId(await paged(`&bbox=${bbox}`)));
  }
  expect((await service.send('GET', `${PATH}?bbox=179,4,-179,6`)).body.features).toHaveLength(2);
  for (const query of ['bbox=1', 'limit=5', 'cursor=x', 'bounds=1,2,3,4']) {
    const { status, body } = await service.send('GET', `${PATH}?${query}`);
    expect([status, body.error]).toEqual([400, expect.stringContaining(query.split('=')[0] as string)]);
  }
});

test('without fields the collection is empty, and HEAD reads none', async () => {
  const { text } = await empty.send('GET', PATH);
  expect(JSON.parse(text)).toEqual({ type: 'FeatureCollection', features: [] });
  const head = await service.send('HEAD', PATH);
  expect([head.status, head.headers.get('content-type'), head.text]).toEqual([
    200,
    'application/geo+json; charset=utf-8',
    '',
  ]);
});

test('with an asset registry, the service has no fields', async () => {
  const other = await runningService({ ASSET_REGISTRY_URL: 'http://127.0.0.1:9' }, service);
  expect((await other.send('GET', PATH)).status).toBe(501);
  await other.stop();
});

test('a client that reads slowly holds the database back, and one that leaves frees its connection', async () => {
  const slow = await rawConnection(service.url);
  slow.send(`GET ${PATH} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await eventually(() => slow.received().includes('FeatureCollection'));
  slow.pause();
  expect(await exporting()).toBe(1);
  // Another export goes through meanwhile, and what is not read of the first is still in the database.
  expect((await service.send('GET', '/packets.csv')).status).toBe(200);
  expect(await exporting()).toBe(1);
  expect(slow.received().length).toBeLessThan(FIELDS * 5_000 * 0.9);
  slow.close();
  expect(await eventually(exporting, count => count === 0)).toBe(0);
});

test('a failed file is never mistaken for a complete one', async () => {
  const broken = await fetch(service.url + PATH);
  const reader = (broken.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  await endExportingSessions(service.pool);
  await expect(
    (async () => {
      while (!(await reader.read()).done);
    })(),
  ).rejects.toThrow();
  expect((await service.send('GET', PATH)).body.features.length).toBeGreaterThanOrEqual(FIELDS);
});

test('the whole file is one snapshot', async () => {
  const answer = await fetch(service.url + PATH);
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const parts = [(await reader.read()).value as Uint8Array];
  await service.pool.query('DELETE FROM fields WHERE area_m2 > $1', [FIELDS - 10]);
  for (let part = await reader.read(); !part.done; part = await reader.read()) parts.push(part.value);
  const { features } = JSON.parse(Buffer.concat(parts).toString());
  expect(features.length).toBeGreaterThanOrEqual(FIELDS);
  expect((await service.send('GET', PATH)).body.features.length).toBeLessThan(FIELDS);
});

const testWithGdal = await testWith('ogr2ogr');

testWithGdal(
  'GDAL opens the plain URL and copies every field',
  async () => {
    const { folder, remove } = await temporaryFolder();
    const file = `${folder}/fields.gpkg`;
    const run = promisify(execFile);
    await run(programPath('ogr2ogr'), ['-f', 'GPKG', file, service.url + PATH], { timeout: 120_000 });
    const program = programPath('ogr2ogr').replace('ogr2ogr', 'ogrinfo');
    const { stdout } = await run(program, ['-so', '-al', file], { timeout: 120_000 });
    const { rows } = await service.pool.query('SELECT count(*)::int AS count FROM fields');
    expect(stdout).toContain(`Feature Count: ${rows[0].count}`);
    expect(stdout).toMatch(/^area_m2: Real /m);
    await remove();
  },
  240_000,
);
