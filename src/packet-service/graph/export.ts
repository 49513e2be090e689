import { once } from 'node:events';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import {
  beginExport,
  copyStatement,
  endExport,
  type GraphFilter,
  isDistributed,
  nextWindow,
  terminate,
  type Window,
} from '../packets/copy-store.ts';
import { rowReader } from './rows.ts';
import { type TripleWriter, writeTriples } from './triples.ts';

/** Bytes that wait to be taken, at most, about. */
const WAITING = 256 * 1024;
/** Packets of one window where the packets lie on several servers. */
const WINDOW_PACKETS = 5000;

export interface ExportContext {
  /** the connections that exports read with, one each */
  exports: pg.Pool;
  /** any others, by which the server's side of a broken export is ended */
  pool: pg.Pool;
}

/**
 * Opens an export: a stream of lines. It holds one connection and one transaction until its end, and reads no faster
 * than it is read. When it is destroyed, its connection ends at once. What goes wrong on the way destroys it, so that
 * half an export never looks like a whole one.
 *
 * @param windowed whether to read a window of time after the other; undefined asks the database
 * @throws whatever keeps the first piece from being made
 */
export async function exportGraph(
  { exports, pool }: ExportContext,
  filter: GraphFilter,
  write: TripleWriter,
  windowed?: boolean,
): Promise<Readable> {
  const client = await exports.connect();
  let ended = false;
  const lines = Readable.from(
    (async function* () {
      yield* linesOf(client, filter, write, windowed);
      ended = true;
    })(),
    { objectMode: false, highWaterMark: WAITING },
  );
  lines.once('close', () => {
    client.release(!ended);
    if (ended) return;
    const { processID } = client as unknown as { processID: number };
    terminate(pool, processID).catch(() => {});
  });
  await once(lines, 'readable');
  return lines;
}

async function* linesOf(
  client: pg.PoolClient,
  filter: GraphFilter,
  write: TripleWriter,
  windowed: boolean | undefined,
): AsyncGenerator<string> {
  const inWindows = windowed ?? (await isDistributed(client));
  await beginExport(client);
  for await (const window of inWindows ? windows(client) : [undefined]) {
    const rows = client.query(copyTo(copyStatement(filter, window), { highWaterMark: WAITING }));
    const read = rowReader();
    for await (const piece of rows) {
      let text = '';
      read(piece, row => {
        text += writeTriples(row, write);
      });
      if (text !== '') yield text;
    }
  }
  await endExport(client);
}

async function* windows(client: pg.PoolClient): AsyncGenerator<Window> {
  let window = await nextWindow(client, '-infinity', WINDOW_PACKETS);
  while (window) {
    yield window;
    window = await nextWindow(client, window.until, WINDOW_PACKETS);
  }
}
