import { once } from 'node:events';
import { Readable } from 'node:stream';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { isDistributed } from '../../../platform/database/citus/is-distributed.ts';
import { isReplica, type ReadFrom } from '../../../platform/database/replicas/read-from.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { wholeRows } from './copy-rows.ts';
import {
  beginExport,
  type ExportFilter,
  endExport,
  nextWindow,
  type Order,
  terminate,
  type Window,
  windowBefore,
} from './copy-store.ts';

/** Maximum bytes that wait to be read, approximately. */
const WAITING = 256 * 1024;
/** Packets per window. */
const WINDOW_PACKETS = 5000;
/** Retry-After while other exports run, in seconds. */
const BUSY_SECONDS = 10;

export interface ExportContext {
  /** the connections that exports read with, one each */
  exports: pg.Pool;
  /** other connections, by which the server's side of a broken export is ended */
  pool: pg.Pool;
}

/** How an export is read. */
export interface ExportOptions {
  /** ends the export when it fires, also before its first piece */
  signal?: AbortSignal | undefined;
  /**
   * reads one window of time after another, each of about so many packets; by default only in order or on a distributed
   * database
   */
  windowSize?: number | undefined;
}

/**
 * Runs a COPY statement for each window of time, or once without one; yields whole rows (copy-rows.ts).
 *
 * @param fields of each row
 * @param order in which the statement sorts the rows, and in which the windows come
 */
export type CopyPackets = (
  fields: number,
  statement: (window?: Window) => string,
  order?: Order,
) => AsyncGenerator<Buffer>;

/**
 * Opens an export of packets (see {@link openDownload}).
 *
 * @param write reads packets, as often as it likes, and yields pieces of the answer
 * @throws Problem unavailable when too many exports run; any error before the first piece
 */
export function openExport(
  context: ExportContext,
  filter: ExportFilter,
  write: (copy: CopyPackets) => AsyncGenerator<string | Buffer>,
  { signal, windowSize }: ExportOptions = {},
): Promise<Readable> {
  return openDownload(
    context,
    async function* (client) {
      // Distributed or sorted, a COPY is collected completely before its first row is sent.
      const size = windowSize ?? ((await isDistributed(client, 'packets')) ? WINDOW_PACKETS : undefined);
      yield* write((fields, statement, order) => {
        const parts = windows(client, filter, order === undefined ? size : (size ?? WINDOW_PACKETS), order);
        return copyPackets(client, parts, fields, statement);
      });
    },
    signal,
  );
}

/**
 * Opens a download: a stream of the pieces that `write` makes of what it reads. It holds one connection and one
 * transaction until its end, and reads no faster than its client: everything in it comes from one snapshot. When it is
 * destroyed or its signal fires, its connection ends at once. An error destroys it, so that half a download never looks
 * complete.
 *
 * @param write yields pieces of the answer
 * @throws Problem unavailable when too many downloads run; any error before the first piece
 */
export async function openDownload(
  { exports, pool }: ExportContext,
  write: (client: pg.PoolClient) => AsyncGenerator<string | Buffer>,
  signal?: AbortSignal,
): Promise<Readable> {
  signal?.throwIfAborted();
  const client = await takeConnection(exports);
  let isComplete = false;
  let isReleased = false;
  let isBegun = false;
  const release = () => {
    if (isReleased) return;
    isReleased = true;
    client.release(!isComplete);
    if (isComplete) return;
    const { processID } = client as unknown as { processID: number };
    terminate(pool, processID).catch(() => {});
  };
  const pieces = Readable.from(
    (async function* () {
      await beginExport(client);
      yield* write(client);
      await endExport(client);
      isComplete = true;
    })(),
    { objectMode: false, highWaterMark: WAITING },
  );
  pieces.once('close', release);
  // A generator that waits for the server ends with its connection, not before.
  const abort = () => {
    pieces.destroy(isBegun ? undefined : signal?.reason);
    release();
  };
  signal?.addEventListener('abort', abort, { once: true });
  pieces.once('close', () => signal?.removeEventListener('abort', abort));
  if (signal?.aborted) abort();
  await once(pieces, 'readable');
  isBegun = true;
  return pieces;
}

/**
 * Opens an export on a replica, and on the primary if it fails there before its first piece. What is missing after that
 * breaks the download.
 *
 * @param signal ends the export when it fires
 */
export async function exportOnEither(
  from: ReadFrom,
  signal: AbortSignal,
  open: (context: ExportContext) => Promise<Readable>,
): Promise<Readable> {
  try {
    return await open(from.copying);
  } catch (error) {
    if (!isReplica(from) || signal.aborted || error instanceof Problem) throw error;
    return open(from.primaryCopying);
  }
}

/** A connection to export with; the pool waits a while for one. */
async function takeConnection(exports: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await exports.connect();
  } catch (error) {
    if (exports.idleCount > 0 || exports.totalCount < exports.options.max) throw error;
    throw new Problem('export.too_many', {}, { retryAfter: BUSY_SECONDS, cause: error });
  }
}

async function* copyPackets(
  client: pg.PoolClient,
  parts: AsyncGenerator<Window | undefined>,
  fields: number,
  statement: (window?: Window) => string,
): AsyncGenerator<Buffer> {
  for await (const window of parts) yield* copyRows(client, statement(window), fields);
}

/**
 * Runs a binary COPY; yields whole rows (copy-rows.ts).
 *
 * @param fields of each row
 */
export async function* copyRows(
  client: pg.PoolClient,
  statement: string,
  fields: number,
): AsyncGenerator<Buffer> {
  const cut = wholeRows(fields);
  for await (const piece of client.query(copyTo(statement, { highWaterMark: WAITING }))) {
    const rows = cut(piece);
    if (rows.length > 0) yield rows;
  }
}

/** The parts of an export: windows of time, or a single part. */
async function* windows(
  client: pg.PoolClient,
  filter: ExportFilter,
  size: number | undefined,
  order: Order = 'asc',
): AsyncGenerator<Window | undefined> {
  // With a limit there is a single part: the newest of each window would not be the newest of all.
  if (size === undefined || filter.limit !== undefined || filter.id !== undefined) {
    yield undefined;
    return;
  }
  const isBackwards = order === 'desc';
  const next = (from: string) =>
    isBackwards ? windowBefore(client, filter, from, size) : nextWindow(client, filter, from, size);
  let window = await next(isBackwards ? 'infinity' : '-infinity');
  while (window) {
    yield window;
    window = await next(isBackwards ? window.after : window.until);
  }
}
