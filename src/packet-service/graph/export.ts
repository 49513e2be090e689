import { once } from 'node:events';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { Problem } from '../../platform/http/problems.ts';
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

/** Bytes that wait to be read, approximately, at most. */
const WAITING = 256 * 1024;
/** Packets per window if the packets are distributed over several servers. */
const WINDOW_PACKETS = 5000;
/** Retry-After while other exports run, in seconds. */
const BUSY_SECONDS = 10;

export interface ExportContext {
  /** the connections that exports read with, one each */
  exports: pg.Pool;
  /** other connections, by which the server's side of a broken export is ended */
  pool: pg.Pool;
}

/**
 * Opens an export: a stream of lines. It holds one connection and one transaction until its end, and reads no faster
 * than its client. When it is destroyed, its connection ends at once. An error destroys it, so that half an export
 * never looks complete.
 *
 * @param windowSize reads one window of time after another, each of about so many packets; by default only on a
 *   distributed database
 * @throws Problem unavailable when too many exports run; any error before the first piece
 */
export async function exportGraph(
  { exports, pool }: ExportContext,
  filter: GraphFilter,
  write: TripleWriter,
  windowSize?: number,
): Promise<Readable> {
  const client = await takePlace(exports);
  let ended = false;
  const lines = Readable.from(
    (async function* () {
      yield* linesOf(client, filter, write, windowSize);
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

/** A connection to export with; the pool waits a while for one. */
async function takePlace(exports: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await exports.connect();
  } catch (error) {
    if (exports.idleCount > 0 || exports.totalCount < exports.options.max) throw error;
    throw new Problem('unavailable', 'too many exports run at the same time; try again', {
      retryAfter: BUSY_SECONDS,
      cause: error,
    });
  }
}

async function* linesOf(
  client: pg.PoolClient,
  filter: GraphFilter,
  write: TripleWriter,
  windowSize: number | undefined,
): AsyncGenerator<string> {
  const size = windowSize ?? ((await isDistributed(client)) ? WINDOW_PACKETS : undefined);
  await beginExport(client);
  for await (const window of windows(client, filter, size)) {
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

/** The parts of an export: windows of time, or a single part. */
async function* windows(
  client: pg.PoolClient,
  filter: GraphFilter,
  size: number | undefined,
): AsyncGenerator<Window | undefined> {
  // With a limit there is a single part: the newest of each window would not be the newest of all.
  if (size === undefined || filter.limit !== undefined || filter.id !== undefined) {
    yield undefined;
    return;
  }
  let window = await nextWindow(client, filter, '-infinity', size);
  while (window) {
    yield window;
    window = await nextWindow(client, filter, window.until, size);
  }
}
