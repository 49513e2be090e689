import { once } from 'node:events';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { cellIndex, leafCell } from '../src/geometry/cells.ts';
import { uuidToUlid } from '../src/packet-service/core/packet-format/ulid.ts';
import { project, SIDE } from '../src/packet-service/reading/tiles/mercator.ts';
import { connect } from './chat-fill.ts';
import { seeded } from './chat-texts.ts';
import { type Context, latencies, type Measured, type Row } from './context.ts';
import { dropIndexes } from './packet-fill.ts';

const OBSERVATIONS = 5_000_000;
/** Regions in which nearly all observations are; the others are anywhere. */
const REGIONS = 20;
const ANYWHERE = 0.02;
/** The number of tiles that a browser requests at once. */
const CLIENTS = 6;
/** Observations whose tiles are asked for. */
const VIEWS = 400;
const LAST_ZOOM = 16;
/** Filters of tiles: a day with more observations than a tile reads, and a text that every fourth one has. */
export const DAY = 'from=2026-01-01&to=2026-01-01';
export const TEXT = 'field=crop&text=maize';

export type Location = readonly [lat: number, lon: number];

/** Tiles of a map among five million observations: the world's, those of each zoom around observations, and filtered ones. */
export async function tileRows(context: Context): Promise<Row[]> {
  const locations = await fillObservations(context, OBSERVATIONS);
  const service = await context.startService();
  const filling = await counted(context, OBSERVATIONS);
  const rows: Row[] = [
    {
      name: `counting ${OBSERVATIONS.toLocaleString('en')} observations for maps`,
      value: OBSERVATIONS / filling,
      unit: 'observations/s',
      note: `${filling.toFixed(0)} s, ${await bytesOf(context, 'tile_cells')} in tile_cells`,
    },
  ];
  const zooms = Array.from({ length: LAST_ZOOM + 1 }, (_, z) => z);
  const all = zooms.flatMap(z => tilesOf(locations, z));
  const measured: [string, string[]][] = [
    ['tiles of zooms 0 to 16', all.map(path => path)],
    ['the tile of the world', ['/tiles/observations/0/0/0.mvt']],
    ['tiles of zooms 1 to 13', zooms.slice(1, 14).flatMap(z => tilesOf(locations, z))],
    ['tiles of zooms 14 to 16', zooms.slice(14).flatMap(z => tilesOf(locations, z))],
    ['tiles of zooms 0 to 16, of one day', all.map(path => `${path}?${DAY}`)],
    ['the tile of the world, of one day', [`/tiles/observations/0/0/0.mvt?${DAY}`]],
    ['tiles of zooms 0 to 16, with a text', all.map(path => `${path}?${TEXT}`)],
  ];
  for (const [name, paths] of measured) rows.push(await measure(context, service, name, paths));
  await service.stop();
  return rows;
}

async function measure(context: Context, { port }: Measured, name: string, paths: string[]): Promise<Row> {
  const load = { port, connections: CLIENTS, requests: './requests/read.ts', options: { paths } };
  const result = await context.load(load);
  return { name: `${name}, ${CLIENTS} clients: p95`, value: result.p95, unit: 'ms', note: latencies(result) };
}

/** The paths of the tiles of a zoom with observations, each once. */
function tilesOf(locations: readonly Location[], z: number): string[] {
  const size = SIDE / 2 ** z;
  const paths = locations.map(([lat, lon]) => {
    const { x, y } = project(lat, lon);
    return `/tiles/observations/${z}/${Math.floor(x / size)}/${Math.floor(y / size)}.mvt`;
  });
  return [...new Set(paths)];
}

/** Stores `count` observations with their entries in the log; returns the locations of some. */
export async function fillObservations(context: Context, count: number): Promise<Location[]> {
  const indexes = await dropIndexes(context);
  const client = await connect(context.connection);
  const random = seeded(11);
  const regions = Array.from(
    { length: REGIONS },
    () => [-50 + random() * 100, -170 + random() * 340] as const,
  );
  const views: Location[] = [];
  const copy = client.query(
    copyFrom('COPY packets (id, geoid, ts, type, lat, lon, cell, header, body, footer) FROM STDIN'),
  );
  let text = '';
  for (let n = 0; n < count; n++) {
    const [lat, lon] = locationOf(random, regions);
    if (n % Math.ceil(count / VIEWS) === 0) views.push([lat, lon]);
    text += line(n, lat, lon);
    if (text.length < 1_000_000) continue;
    if (!copy.write(text)) await once(copy, 'drain');
    text = '';
  }
  copy.end(text);
  await once(copy, 'finish');
  await client.query("SET maintenance_work_mem = '1GB'");
  for (const index of indexes) await client.query(index);
  await client.query(
    `INSERT INTO packet_log (position, packet_id, kind)
     SELECT row_number() OVER (ORDER BY id), id, 'packet' FROM packets`,
  );
  await client.query('VACUUM ANALYZE packets');
  await client.query('VACUUM ANALYZE packet_log');
  await client.end();
  return views;
}

/** Around the middle of a region, denser towards it, or anywhere on the map. */
function locationOf(random: () => number, regions: readonly Location[]): Location {
  if (random() < ANYWHERE) return [-80 + random() * 160, -180 + random() * 360];
  const [lat, lon] = regions[Math.floor(random() * regions.length)] as Location;
  const off = () => (random() + random() + random() - 1.5) * 2;
  return [lat + off(), lon + off()];
}

function line(n: number, lat: number, lon: number): string {
  const id = `019f0000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;
  const ts = new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString();
  const geoid = n.toString(16).padStart(64, '0');
  const header = `{"geoid":"${geoid}","id":"${uuidToUlid(id)}","timestamp":"${ts}","type":"note"}`;
  const crop = ['beans', 'cassava', 'coffee', 'maize'][n % 4];
  const body = `{"attachments":[],"capture_point":{"lat":${lat},"lon":${lon}},"crop":"${crop}","message":"Leaf rust on ${n} plants"}`;
  const cell = cellIndex(leafCell(lat, lon), 20);
  const footer = `{"enc":"none","hash":"${geoid}","lang":"und"}`;
  return `${[id, geoid, ts, 'note', lat, lon, cell, header, body, footer].join('\t')}\n`;
}

/** Seconds until a number of observations are counted. */
export async function counted({ connection }: Context, count: number): Promise<number> {
  const began = performance.now();
  const client = await connect(connection);
  for (;;) {
    const { rows } = await client.query<{ position: string }>('SELECT position FROM tile_state');
    if (Number(rows[0]?.position ?? 0) >= count) break;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  const seconds = (performance.now() - began) / 1000;
  await client.query('VACUUM ANALYZE tile_cells');
  await client.end();
  return seconds;
}

async function bytesOf({ connection }: Context, table: string): Promise<string> {
  const client: pg.Client = await connect(connection);
  const { rows } = await client.query(`SELECT pg_size_pretty(pg_total_relation_size($1::regclass)) AS size`, [
    table,
  ]);
  await client.end();
  return rows[0].size;
}
