import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect } from 'vitest';
import { programPath, testWith } from '../../../../test/helpers/debian.ts';
import { temporaryFolder } from '../../../../test/helpers/folder.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';

const test = await testWith('ogr2ogr');
const PACKETS = 22_000;

let service: RunningService;
let folder: string;
let removeFolder: () => Promise<void>;
beforeAll(async () => {
  service = await runningService();
  ({ folder, remove: removeFolder } = await temporaryFolder());
  await service.pool.query(
    `INSERT INTO packets (id, geoid, ts, type, lat, lon, header, body, footer)
     SELECT gen_random_uuid(), 'g', '2026-03-01'::timestamptz + n * interval '1 s', 'note', lat, lon,
       '{"geoid":"g","id":"01JD7Q2M8XW3N5R6T8' || lpad(n::text, 8, '0') ||
         '","timestamp":"2026-03-01T08:15:00Z","type":"note"}',
       '{"attachments":[],"capture_point":{"lat":' || lat || ',"lon":' || lon || '},"crop":"maïs, \\"sec\\"",' ||
         CASE WHEN n > 21990 THEN '"late":{"field":' || n || '},' ELSE '' END ||
         '"message":"Rust on ' || n || ' plants","severity":' || n % 5 || '}', '{}'
     FROM generate_series(1, ${PACKETS}) AS n, LATERAL (SELECT n * 0.001 AS lat, 29 + n * 0.001 AS lon) AS of`,
  );
});
afterAll(async () => {
  await service.stop();
  await removeFolder();
});

/** The output of ogrinfo about a layer: its fields and the number of its features. */
async function ogrinfo(...words: string[]): Promise<string> {
  const program = programPath('ogr2ogr').replace('ogr2ogr', 'ogrinfo');
  const { stdout } = await promisify(execFile)(program, ['-so', '-al', ...words], { timeout: 120_000 });
  return stdout;
}

test('GDAL opens the plain URL as GeoJSON and ogr2ogr copies every packet with every field', async () => {
  const file = `${folder}/packets.gpkg`;
  const url = `${service.url}/packets.geojson`;
  await promisify(execFile)(programPath('ogr2ogr'), ['-f', 'GPKG', file, url], { timeout: 120_000 });
  const said = await ogrinfo(file);
  expect(said).toContain(`Feature Count: ${PACKETS}`);
  expect(said).toContain('Geometry: Point');
  expect(said).toMatch(/^severity: Integer /m);
  expect(said).toMatch(/^late\.field: Integer /m);
  expect(said).toMatch(/^timestamp: DateTime /m);
}, 240_000);

test('GDAL opens the plain URL as CSV, with points by lon and lat', async () => {
  const options = [
    '-oo',
    'X_POSSIBLE_NAMES=lon',
    '-oo',
    'Y_POSSIBLE_NAMES=lat',
    '-oo',
    'AUTODETECT_TYPE=YES',
  ];
  const said = await ogrinfo(`${service.url}/packets.csv`, ...options);
  expect(said).toContain(`Feature Count: ${PACKETS}`);
  expect(said).toContain('Geometry: Point');
  expect(said).toMatch(/^severity: Integer /m);
  expect(said).toMatch(/^late\.field: /m);
}, 240_000);
