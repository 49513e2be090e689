import { get } from 'node:http';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { copyTable } from '../src/packet-service/core/packets/copy-store.ts';
import { connect } from './chat-fill.ts';
import { type Context, type Measured, median, type Row } from './context.ts';
import { memoryOf } from './memory.ts';
import { dropIndexes } from './packet-fill.ts';

const SIZES = [100_000, 1_000_000];
const ROUNDS = 3;

/** The CSV of all observations at two sizes: its speed compared with reading the same rows, and whether memory grows. */
export async function tableRows(context: Context): Promise<Row[]> {
  const rows: Row[] = [];
  const service = await context.startService();
  await dropIndexes(context);
  let filled = 0;
  for (const packets of SIZES) {
    await fillObservations(context, filled, packets);
    filled = packets;
    const exports: Download[] = [];
    const copies: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      copies.push(await drain(context));
      exports.push(await download(service, '/packets.csv'));
    }
    const wrong = exports.find(({ lines }) => lines !== packets + 1);
    if (wrong) throw new Error(`${wrong.lines} lines came, not ${packets + 1}`);
    const rate = median(exports.map(({ seconds }) => packets / seconds));
    const firstByte = median(exports.map(({ firstByte }) => firstByte));
    const peak = Math.max(...exports.map(download => download.peak));
    rows.push({
      name: `CSV of ${packets.toLocaleString('en')} packets`,
      value: rate,
      unit: 'rows/s',
      against: { name: 'COPY of the same rows, drained twice', ratio: (rate / packets) * 2 * median(copies) },
      note: `first byte after ${firstByte.toFixed(2)} s, peak memory ${Math.round(peak / 2 ** 20)} MiB`,
    });
  }
  await service.stop();
  return rows;
}

/** Stores observations with five fields of their own, two of them nested. */
async function fillObservations(
  { connection }: Pick<Context, 'connection'>,
  from: number,
  to: number,
): Promise<void> {
  const client = await connect(connection);
  await client.query(
    `INSERT INTO packets (id, geoid, ts, type, lat, lon, author, header, body, footer)
     SELECT ('019f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, geoid, ts, 'note', lat, lon,
       CASE n % 2 WHEN 0 THEN 'user-' || n % 500 END,
       '{"geoid":"' || geoid || '","id":"01JD7Q2M8XW3N5R6T8' || lpad(n::text, 8, '0') ||
         '","timestamp":"' || to_char(ts, 'YYYY-MM-DD"T"HH24:MI:SS"Z"') || '","type":"note"}',
       '{"attachments":[],"capture_point":{"accuracy":4.5,"lat":' || lat || ',"lon":' || lon ||
         '},"crop":"maize","message":"Leaf rust on ' || n || ' plants, row ' || n % 7 ||
         '","observer":{"name":"Amina","team":"north"},"severity":' || n % 5 || '}',
       '{"enc":"none","hash":"' || geoid || '","lang":"und"}'
     FROM generate_series($1::int, $2::int - 1) AS n,
       LATERAL (SELECT md5(n::text) || md5(n::text) AS geoid, '2026-01-01'::timestamptz + n * interval '1 s' AS ts,
         -1.2 + n * 0.00001 AS lat, 29.1 + n * 0.00001 AS lon) AS of`,
    [from, to],
  );
  await client.query('VACUUM ANALYZE packets');
  await client.end();
}

/** Seconds that the server takes to hand out the rows, when nothing is done with them. */
async function drain({ connection }: Context): Promise<number> {
  const client = new pg.Client({ ...connection, options: '-c search_path=packet_service' });
  await client.connect();
  const began = performance.now();
  for await (const piece of client.query(copyTo(copyTable({})))) if (piece.length === 0) break;
  const seconds = (performance.now() - began) / 1000;
  await client.end();
  return seconds;
}

interface Download {
  seconds: number;
  /** seconds to the first byte of the body */
  firstByte: number;
  lines: number;
  /** bytes of memory that the service had at most, as the system counts them */
  peak: number;
}

function download({ port, pid }: Measured, path: string): Promise<Download> {
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1000;
  return new Promise((resolve, reject) => {
    const request = get({ host: '127.0.0.1', port, path, agent: false }, async answer => {
      const download: Download = { seconds: 0, firstByte: 0, lines: 0, peak: 0 };
      let watched = 0;
      for await (const piece of answer as AsyncIterable<Buffer>) {
        if (download.firstByte === 0) download.firstByte = seconds();
        for (let at = piece.indexOf(0x0a); at >= 0; at = piece.indexOf(0x0a, at + 1)) download.lines++;
        if (seconds() - watched < 0.1) continue;
        watched = seconds();
        download.peak = Math.max(download.peak, memoryOf(pid));
      }
      download.seconds = seconds();
      resolve(download);
    });
    request.once('error', reject);
  });
}
