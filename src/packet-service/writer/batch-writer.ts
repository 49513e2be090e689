import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import { isTransient } from '../../platform/postgres/database.ts';
import { type Lanes, openLanes } from './lanes.ts';
import { goesOneWay, type PacketWrite, type WriteOutcome, weightOf, writePackets } from './write-store.ts';

/** Packets in one transaction, at most. */
const MAX_PACKETS = 128;
/**
 * What must wait for a batch to begin while others are on their way: with less, sharing the next commit gains more than
 * a commit of one's own. Where a batch goes behind another, messages weigh more: the server has so much to write for
 * one that clients wait for it alone, while observations keep this process as busy, and smaller batches would cost both
 * more than the pauses between them.
 */
const ENOUGH = 32;
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
  weight: number;
  oneWay: boolean;
  resolve: (outcome: WriteOutcome) => void;
  reject: (error: Error) => void;
}

/**
 * Collects packets while earlier ones are being written, and writes what has collected as one transaction: one
 * commit serves many requests. There is no timer: an idle writer writes at once, a busy one writes as large
 * batches as its load makes. Where many wait, the next batch is sent while one is still being written, and a few lanes
 * write at the same time.
 *
 * @param pool connections in pipeline mode, one a lane
 * @param lanes connections that write at the same time
 */
export function batchWriter(pool: pg.Pool, lanes: number, logger: FastifyBaseLogger): BatchWriter {
  const inUse = openLanes(pool, lanes);
  const waiting = waitingList();
  /** on their way */
  let batches = 0;
  let scheduled = false;
  let onIdle: (() => void) | undefined;

  function batchIsDue(): boolean {
    if (batches === 0) return waiting.packets > 0;
    if (waiting.weight >= ENOUGH && waiting.twoWay === 0 && inUse.takesAnother()) return true;
    return waiting.packets >= ENOUGH && inUse.hasRoom();
  }

  /** Starts after the event loop's turn, so that all requests which arrived in it share a batch. */
  function schedule(): void {
    if (scheduled || !batchIsDue()) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (batchIsDue()) writeOn();
    });
  }

  async function writeOn(): Promise<void> {
    batches++;
    do await writeBatch(inUse, waiting.take(), logger);
    while (batches === 1 ? waiting.packets > 0 : batchIsDue());
    batches--;
    if (batches === 0) onIdle?.();
  }

  return {
    write(write) {
      const { header, body } = write.packet;
      const bytes = header.length + body.length;
      if (waiting.bytes + bytes > MAX_WAITING_BYTES) {
        return Promise.reject(
          new Problem('unavailable', 'too many packets wait to be written; nothing was stored', {
            retryAfter: 2,
          }),
        );
      }
      return new Promise((resolve, reject) => {
        waiting.add({ write, bytes, weight: weightOf(write), oneWay: goesOneWay(write), resolve, reject });
        schedule();
      });
    },
    drain() {
      if (batches === 0 && waiting.packets === 0) return Promise.resolve();
      return new Promise(resolve => {
        onIdle = resolve;
      });
    },
  };
}

/** What waits to be written, in the order in which it came, and how much it is. */
function waitingList() {
  const list: Waiting[] = [];
  const sums = { packets: 0, bytes: 0, weight: 0, twoWay: 0 };

  function count({ bytes, weight, oneWay }: Waiting, by: 1 | -1): void {
    sums.packets += by;
    sums.bytes += by * bytes;
    sums.weight += by * weight;
    sums.twoWay += oneWay ? 0 : by;
  }

  return Object.assign(sums, {
    add(added: Waiting): void {
      list.push(added);
      count(added, 1);
    },
    /** Takes as many as one transaction may have. */
    take(): Waiting[] {
      let packets = 0;
      let bytes = 0;
      for (const next of list) {
        if (packets === MAX_PACKETS || (packets > 0 && bytes + next.bytes > MAX_BYTES)) break;
        packets++;
        bytes += next.bytes;
      }
      const batch = list.splice(0, packets);
      for (const taken of batch) count(taken, -1);
      return batch;
    },
  });
}

/** Writes a batch and answers its requests; a row that the database refuses is found by halving the batch. */
async function writeBatch(lanes: Lanes, batch: Waiting[], logger: FastifyBaseLogger): Promise<void> {
  try {
    const outcomes = await writePatiently(
      lanes,
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
      await writeBatch(lanes, batch.slice(0, half), logger);
      await writeBatch(lanes, batch.slice(half), logger);
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
  lanes: Lanes,
  writes: PacketWrite[],
  logger: FastifyBaseLogger,
): Promise<WriteOutcome[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (let pause = 5; ; pause = Math.min(pause * 2, 500)) {
    try {
      return await writeOnce(lanes, writes);
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

/** Answers come in the order in which batches were sent: what failed before this one in its lane is known by now. */
async function writeOnce(lanes: Lanes, writes: PacketWrite[]): Promise<WriteOutcome[]> {
  const lane = lanes.enter(writes.every(goesOneWay));
  try {
    return await writePackets(await lane.connection, writes);
  } catch (error) {
    if (!lane.failed) {
      lane.failed = true;
      throw error;
    }
  } finally {
    lanes.leave(lane);
  }
  // What went before it in the lane failed and took this batch with it.
  return writeOnce(lanes, writes);
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
