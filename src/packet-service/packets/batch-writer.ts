import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { isTransient } from '../../platform/database.ts';
import { Problem } from '../../platform/problems.ts';
import { type PacketWrite, type WriteOutcome, writePackets } from './write-store.ts';

/** Packets in one transaction, at most. */
const MAX_ROWS = 128;
/**
 * Packets that must wait for a further lane to begin while others write: fewer gain more from sharing the next commit
 * than from a commit of their own. With 32 clients that is a tenth more packets a second.
 */
const LANE_ROWS = 32;
/** Bytes of packet text in one transaction, at most (a single larger packet goes alone). */
const MAX_BYTES = 4 * 1024 * 1024;
/** Bytes of packet text that may wait; beyond it clients are told to come back. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/** How long a batch is sent again while the database cannot take it, in milliseconds. */
const PATIENCE_MS = 10_000;

export interface BatchWriter {
  /**
   * Stores one packet; resolves after its transaction has committed.
   *
   * @throws Problem unavailable when the database cannot take it, internal when this packet alone is refused
   */
  write(write: PacketWrite): Promise<WriteOutcome>;
  /** Writes what waits; resolves when all of it is answered. */
  drain(): Promise<void>;
}

interface Waiting {
  write: PacketWrite;
  bytes: number;
  resolve: (outcome: WriteOutcome) => void;
  reject: (error: Error) => void;
}

/**
 * Collects packets while earlier ones are being written, and writes what has collected as one transaction: one
 * commit serves many requests. There is no timer: an idle writer writes at once, a busy one writes as large
 * batches as its load makes. Where very many wait, a few lanes write at the same time, each on a connection of its own.
 *
 * @param pool connections in pipeline mode, one a lane
 * @param lanes transactions in flight at the same time
 */
export function batchWriter(pool: pg.Pool, lanes: number, logger: FastifyBaseLogger): BatchWriter {
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let busyLanes = 0;
  let scheduled = false;
  let onIdle: (() => void) | undefined;

  function laneIsDue(): boolean {
    return busyLanes === 0 ? waiting.length > 0 : busyLanes < lanes && waiting.length >= LANE_ROWS;
  }

  /** Starts after the event loop's turn, so that all requests which arrived in it share a batch. */
  function schedule(): void {
    if (scheduled || !laneIsDue()) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      if (!laneIsDue()) return;
      busyLanes++;
      runLane().finally(() => {
        busyLanes--;
        if (busyLanes === 0 && waiting.length === 0) onIdle?.();
      });
    });
  }

  async function runLane(): Promise<void> {
    while (waiting.length > 0) await writeBatch(pool, takeBatch(), logger);
  }

  function takeBatch(): Waiting[] {
    let rows = 0;
    let bytes = 0;
    for (const next of waiting) {
      if (rows === MAX_ROWS || (rows > 0 && bytes + next.bytes > MAX_BYTES)) break;
      rows++;
      bytes += next.bytes;
    }
    waitingBytes -= bytes;
    return waiting.splice(0, rows);
  }

  return {
    write(write) {
      const { header, body } = write.packet;
      const bytes = header.length + body.length;
      if (waitingBytes + bytes > MAX_WAITING_BYTES) {
        return Promise.reject(
          new Problem('unavailable', 'too many packets wait to be written; nothing was stored', {
            retryAfter: 2,
          }),
        );
      }
      waitingBytes += bytes;
      return new Promise((resolve, reject) => {
        waiting.push({ write, bytes, resolve, reject });
        schedule();
      });
    },
    drain() {
      if (busyLanes === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise(resolve => {
        onIdle = resolve;
      });
    },
  };
}

/** Writes a batch and answers its requests; a row that the database refuses is found by halving the batch. */
async function writeBatch(pool: pg.Pool, batch: Waiting[], logger: FastifyBaseLogger): Promise<void> {
  try {
    const outcomes = await writePatiently(
      pool,
      batch.map(({ write }) => write),
      logger,
    );
    batch.forEach(({ resolve }, index) => {
      resolve(outcomes[index] as WriteOutcome);
    });
  } catch (error) {
    if (error instanceof Problem) {
      for (const { reject } of batch) reject(error);
    } else if (batch.length === 1) {
      batch[0]?.reject(new Problem('internal', 'the packet could not be stored', { cause: error }));
    } else {
      const half = batch.length >> 1;
      await writeBatch(pool, batch.slice(0, half), logger);
      await writeBatch(pool, batch.slice(half), logger);
    }
  }
}

/**
 * Sends a whole transaction again while the database is in a passing trouble: a deadlock, a lost connection, a
 * restart. `writePackets` is safe to repeat even when the lost connection's COMMIT got through.
 *
 * @throws Problem unavailable when the trouble lasts; whatever the database says of the rows otherwise
 */
async function writePatiently(
  pool: pg.Pool,
  writes: PacketWrite[],
  logger: FastifyBaseLogger,
): Promise<WriteOutcome[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pause = 5; ; pause = Math.min(pause * 2, 500)) {
    try {
      return await writeOnce(pool, writes);
    } catch (error) {
      const full = (error as { code?: string }).code === '53100';
      if (!full && !isTransient(error)) throw error;
      if (full || Date.now() + pause > deadline) {
        const why = full ? 'the database has no disk space left' : 'the database does not answer';
        logger.error({ err: error, packets: writes.length }, `${why}: packets refused`);
        throw new Problem('unavailable', `${why}; send the packet again`, { retryAfter: 5, cause: error });
      }
      await wait(pause * (0.5 + Math.random()));
    }
  }
}

async function writeOnce(pool: pg.Pool, writes: PacketWrite[]): Promise<WriteOutcome[]> {
  const connection = await pool.connect();
  let failed = true;
  try {
    const outcomes = await writePackets(connection, writes);
    failed = false;
    return outcomes;
  } finally {
    // After an error a transaction may be open, or the connection gone: closing it rolls back whatever was.
    connection.release(failed);
  }
}

/** The same writer, which also tells of each write after its commit. */
export function tellingWriter(writer: BatchWriter, tell: (write: PacketWrite) => void): BatchWriter {
  return {
    write(write) {
      const written = writer.write(write);
      written.then(
        () => tell(write),
        () => {},
      );
      return written;
    },
    drain: writer.drain,
  };
}
