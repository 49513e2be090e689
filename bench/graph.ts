import { createConnection } from 'node:net';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { copyGraph } from '../src/packet-service/core/packets/copy-store.ts';
import { type Context, type Measured, median, type Row } from './context.ts';
import { memoryOf } from './memory.ts';
import { dropIndexes, fillPackets } from './packet-fill.ts';

/** On average: an observation becomes four triples, with an attachment five, a message with two GeoIDs seven. */
const TRIPLES_EACH = 5;
const SIZES = [100_000, 10_000_000];
const ROUNDS = 3;

/** The export at two sizes: its speed compared with a bare COPY of the same rows, and whether memory grows with it. */
export async function graphRows(context: Context): Promise<Row[]> {
  const rows: Row[] = [];
  const service = await context.startService();
  let filled = 0;
  // No export of everything looks at them.
  await dropIndexes(context);
  for (const triples of SIZES) {
    await fillPackets(context, filled, triples / TRIPLES_EACH);
    filled = triples / TRIPLES_EACH;
    const exports: Export[] = [];
    const copies: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      copies.push(await drain(context));
      exports.push(await download(service));
    }
    const wrong = exports.find(({ lines }) => lines !== triples);
    if (wrong) throw new Error(`${wrong.lines} triples came, not ${triples}`);
    const rate = median(exports.map(({ seconds }) => triples / seconds));
    const firstByte = median(exports.map(({ firstByte }) => firstByte * 1000));
    const peak = Math.max(...exports.map(({ peak }) => peak));
    rows.push({
      name: `export of ${triples.toLocaleString('en')} triples`,
      value: rate,
      unit: 'triples/s',
      against: { name: 'COPY of the same rows, drained', ratio: (rate / triples) * median(copies) },
      note: `first byte after ${firstByte.toFixed(1)} ms, peak memory ${Math.round(peak / 2 ** 20)} MiB`,
    });
  }
  await service.stop();
  return rows;
}

/** Seconds that the server takes to hand out the rows, when nothing is done with them. */
async function drain({ connection }: Context): Promise<number> {
  const client = new pg.Client({ ...connection, options: '-c search_path=packet_service' });
  await client.connect();
  const began = performance.now();
  for await (const piece of client.query(copyTo(copyGraph({})))) if (piece.length === 0) break;
  const seconds = (performance.now() - began) / 1000;
  await client.end();
  return seconds;
}

interface Export {
  seconds: number;
  /** seconds to the first byte of the body */
  firstByte: number;
  lines: number;
  /** bytes of memory that the service had at most, as the system counts them */
  peak: number;
}

/** Downloads an export over a plain socket: a client that does more with it would be measured with the service. */
async function download({ port, pid }: Measured): Promise<Export> {
  const socket = createConnection({ port, host: '127.0.0.1' });
  const began = performance.now();
  socket.write(
    'POST /graph/materialize HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
  );
  let firstByte = 0;
  let lines = 0;
  let peak = 0;
  let head = true;
  let brace = false;
  let watched = began;
  for await (let piece of socket as AsyncIterable<Buffer>) {
    if (head) {
      const end = piece.indexOf('\r\n\r\n');
      if (end < 0 || piece.length <= end + 4) continue;
      head = false;
      firstByte = (performance.now() - began) / 1000;
      piece = piece.subarray(end + 4);
    }
    // Lines end with }\n; a chunk of HTTP begins and ends with \r\n.
    if (brace && piece[0] === 0x0a) lines++;
    brace = piece.at(-1) === 0x7d;
    for (let at = piece.indexOf('}\n'); at >= 0; at = piece.indexOf('}\n', at + 2)) lines++;
    if (performance.now() - watched > 100) {
      watched = performance.now();
      peak = Math.max(peak, memoryOf(pid));
    }
  }
  return {
    seconds: (performance.now() - began) / 1000,
    firstByte,
    lines,
    peak: Math.max(peak, memoryOf(pid)),
  };
}
