import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { passingTrouble, type Trouble, type TroubleKind } from '../../../platform/database/troubles.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Reason } from '../../../platform/http/reasons/catalogue.ts';
import { openPipelines, type Pipelines } from './pipelines.ts';
import { type RowPeak, rowPeak } from './row-peak.ts';
import {
  canPipeline,
  checkPacketWrites,
  FieldsChanged,
  type OnCommitted,
  type PacketWrite,
  type WriteOutcome,
  weightOf,
  writePackets,
} from './write-store.ts';
import { type WriterClock, writerClock } from './writer-clock.ts';

/** Maximum packets per transaction. */
const MAX_PACKETS = 128;
/** Packets that must wait for a batch to start on another connection: with fewer, sharing the next commit gains more. */
const ENOUGH = 32;
/** Rows that must wait for a batch to be sent behind another: half of those that were open lately, within these. */
const [FEWEST_ROWS, MOST_ROWS] = [8, 32];
/** Maximum bytes of packet text per transaction (a single larger packet goes alone). */
const MAX_BYTES = 4 * 1024 * 1024;
/** Bytes of packet text that may wait; beyond it clients get 503 with Retry-After. */
const MAX_WAITING_BYTES = 128 * 1024 * 1024;
/**
 * Milliseconds after which a connection is closed that has not answered all that was sent at once, mostly a whole
 * transaction; half of what a write may wait, so that it is tried again.
 */
export const PIPELINE_DEADLINE_MS = 5000;
/** How long writes that a read-only server refuses are retried, in milliseconds: another server may take over. */
const REFUSED_PATIENCE_MS = 1000;

export interface BatchWriter {
  /**
   * Stores one packet; resolves after its transaction has committed.
   *
   * @param since when its request arrived, by `now`; by default now
   * @throws Problem unavailable when the database cannot take it, or not within 10 seconds since its request arrived;
   *   then it may be stored nevertheless. Internal when this packet alone is refused
   */
  write(write: PacketWrite, since?: number): Promise<WriteOutcome>;
  /** The writer's clock, by which it knows how long a request has waited. */
  now(): number;
  /**
   * Checks whether packets can be written.
   *
   * @param space see `checkWrites`
   * @throws whatever keeps them from being written
   */
  check(space: boolean): Promise<void>;
  /** How many packets wait for their turn. */
  waiting(): number;
  /** Writes what waits; resolves when all of it has been answered. */
  drain(): Promise<void>;
}

/** Runs work in the context of a request. */
type InContext = (work: () => Promise<void>) => Promise<void>;

/** Observes batches, for metrics and traces. */
export interface BatchWatch {
  /** @param waitedMs how long the first of its packets waited for its turn */
  sent(packets: number, waitedMs: number): void;
  /** @param tookMs from its beginning to its end, with retries */
  ended(tookMs: number): void;
  /** takes the position after each batch, before its requests are answered */
  committed?: OnCommitted | undefined;
  /** while requests are traced: keeps the context of a request, in which its batch is written */
  context?: () => InContext;
}

interface Waiting {
  write: PacketWrite;
  bytes: number;
  weight: number;
  pipelined: boolean;
  /** by the writer's clock */
  since: number;
  context: InContext | undefined;
  /** set when it was answered because it had waited too long */
  givenUp: boolean;
  resolve: (outcome: WriteOutcome) => void;
  reject: (error: Error) => void;
}

/**
 * Collects packets while earlier ones are being written, and writes what has collected as one transaction: one commit
 * serves many requests. There is no timer: an idle writer writes at once, and batches grow with the load. If many
 * wait, the next batch is pipelined behind the current one, and a few connections write at the same time.
 *
 * @param pool connections in pipeline mode, one per pipeline
 * @param connections connections that write at the same time
 */
export function batchWriter(
  pool: pg.Pool,
  connections: number,
  logger: FastifyBaseLogger,
  watch?: BatchWatch,
): BatchWriter {
  const pipelines = openPipelines(pool, connections);
  const waiting = waitingList();
  const clock = writerClock(since => giveUp(waiting, inFlight, since));
  const writing = { pipelines, clock, logger, watch };
  const inFlight = new Set<Waiting[]>();
  const peak = rowPeak();
  /** in flight */
  let batches = 0;
  let rows = 0;
  let scheduled = false;
  let onIdle: (() => void) | undefined;

  const batchIsDue = () => (batches === 0 ? waiting.packets > 0 : isEnough(waiting, peak, pipelines));

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
    if (batches === 0) clock.began();
    batches++;
    do {
      const { since } = waiting;
      const { batch, weight } = waiting.take();
      inFlight.add(batch);
      rows += weight;
      await writeWatched(writing, batch, since);
      inFlight.delete(batch);
      rows -= weight;
      peak.batchEnded(waiting.weight + rows);
    } while (batches === 1 ? waiting.packets > 0 : batchIsDue());
    batches--;
    if (batches === 0) onIdle?.();
  }

  return {
    write(write, since = clock.now()) {
      const bytes = bytesOf(write);
      if (waiting.bytes + bytes > MAX_WAITING_BYTES) return Promise.reject(tooMuchWaits());
      return new Promise((resolve, reject) => {
        const known = { write, bytes, weight: weightOf(write), pipelined: canPipeline(write), since };
        waiting.add({ ...known, context: watch?.context?.(), givenUp: false, resolve, reject });
        peak.arrived(waiting.weight + rows);
        schedule();
      });
    },
    now: clock.now,
    waiting: () => waiting.packets,
    // Batches in flight show it: one that is not answered is given up.
    check: async space => (batches > 0 ? clock.check() : checkIdle(pool, space)),
    async drain() {
      const { promise, resolve } = Promise.withResolvers<void>();
      onIdle = resolve;
      if (batches > 0 || waiting.packets > 0) await promise;
      clock.stop();
    },
  };
}

/** Whether a batch is due although others are in flight. */
function isEnough(waiting: WaitingList, peak: RowPeak, pipelines: Pipelines): boolean {
  const half = Math.min(MOST_ROWS, Math.max(FEWEST_ROWS, peak.value() / 2));
  if (waiting.weight >= half && waiting.unpipelined === 0 && pipelines.takesAnother()) return true;
  return waiting.packets >= ENOUGH && pipelines.hasRoom();
}

function bytesOf({ packet: { header, body } }: PacketWrite): number {
  return header.length + body.length;
}

function tooMuchWaits(): Problem {
  return new Problem('packet.too_many_waiting', {}, { retryAfter: 2 });
}

/**
 * Checks whether packets can be written. Batches in flight show that the writer gets answers, not that there is space:
 * that is looked for over another connection.
 *
 * @param pool connections of requests
 * @param space see `checkWrites`
 * @throws whatever keeps them from being written
 */
export async function probeWrites(
  writer: Pick<BatchWriter, 'check'>,
  pool: pg.Pool,
  space: boolean,
): Promise<void> {
  await writer.check(space);
  if (space) await checkPacketWrites(pool, space);
}

async function checkIdle(pool: pg.Pool, space: boolean): Promise<void> {
  const connection = await pool.connect();
  let broken = true;
  try {
    await checkPacketWrites(connection, space);
    broken = false;
  } finally {
    connection.release(broken);
  }
}

/** Answers writes that have waited since a time or longer. Those not sent yet are dropped. */
function giveUp(waiting: WaitingList, inFlight: Iterable<Waiting[]>, since: number): void {
  for (const entry of waiting.takeOlder(since)) abandon(entry, 'packet.not_stored_in_time');
  for (const batch of inFlight) {
    for (const entry of batch) if (entry.since <= since) abandon(entry, 'packet.perhaps_stored');
  }
}

type WaitingList = ReturnType<typeof waitingList>;

/** The waiting writes in order of arrival, with their totals. */
function waitingList() {
  let list: Waiting[] = [];
  /** since: when the first of them came; of those that a batch leaves behind, when that batch was taken */
  const sums = { packets: 0, bytes: 0, weight: 0, unpipelined: 0, since: 0 };

  function count({ bytes, weight, pipelined }: Waiting, by: 1 | -1): void {
    sums.packets += by;
    sums.bytes += by * bytes;
    sums.weight += by * weight;
    sums.unpipelined += pipelined ? 0 : by;
  }

  return Object.assign(sums, {
    add(added: Waiting): void {
      if (list.length === 0) sums.since = performance.now();
      list.push(added);
      count(added, 1);
    },
    /** Takes as many as fit into one transaction. */
    take(): { batch: Waiting[]; weight: number } {
      const { weight } = sums;
      let packets = 0;
      let bytes = 0;
      for (const next of list) {
        if (packets === MAX_PACKETS || (packets > 0 && bytes + next.bytes > MAX_BYTES)) break;
        packets++;
        bytes += next.bytes;
      }
      const batch = list.splice(0, packets);
      sums.since = performance.now();
      for (const taken of batch) count(taken, -1);
      return { batch, weight: weight - sums.weight };
    },
    /** Takes those that arrived at a time or before. */
    takeOlder(since: number): Waiting[] {
      const older = list.filter(entry => entry.since <= since);
      if (older.length > 0) list = list.filter(entry => entry.since > since);
      for (const taken of older) count(taken, -1);
      return older;
    },
  });
}

interface Writing {
  pipelines: Pipelines;
  clock: WriterClock;
  logger: FastifyBaseLogger;
  watch: BatchWatch | undefined;
}

/**
 * Writes a batch in the context of the request whose packet is its first.
 *
 * @param since when its first packet began to wait
 */
async function writeWatched(writing: Writing, batch: Waiting[], since: number): Promise<void> {
  const { watch } = writing;
  const began = performance.now();
  watch?.sent(batch.length, began - since);
  const work = () => writeBatch(writing, batch);
  await (batch[0]?.context?.(work) ?? work());
  watch?.ended(performance.now() - began);
}

/** Writes a batch and answers its requests; a row that the database refuses is isolated by halving the batch. */
async function writeBatch(writing: Writing, batch: Waiting[]): Promise<void> {
  try {
    await writePatiently(writing, batch);
  } catch (error) {
    if (error instanceof FieldsChanged) {
      // Which of their states has ended is not known. Messages are not held up by it.
      const [outdated, others] = [
        batch.filter(entry => entry.write.asOf),
        batch.filter(entry => !entry.write.asOf),
      ];
      for (const { resolve } of outdated) resolve({ kind: 'outdated' });
      if (others.length > 0) await writeBatch(writing, others);
    } else if (error instanceof Problem) {
      for (const { reject } of batch) reject(error);
    } else if (batch.length === 1) {
      batch[0]?.reject(new Problem('packet.not_storable', {}, { cause: error }));
    } else {
      const half = batch.length >> 1;
      await writeBatch(writing, batch.slice(0, half));
      await writeBatch(writing, batch.slice(half));
    }
  }
}

/**
 * Retries a transaction after transient errors: a deadlock, a lost connection, a restart. `writePackets` can be
 * repeated even if the lost connection's COMMIT succeeded. Writes that were given up meanwhile are not retried: their
 * clients know that they may not be stored.
 *
 * @throws Problem unavailable if the error persists; other errors of the database
 */
async function writePatiently({ pipelines, clock, logger, watch }: Writing, batch: Waiting[]): Promise<void> {
  const began = clock.now();
  for (let pause = 5; ; pause = Math.min(pause * 2, 500)) {
    const open = batch.filter(({ givenUp }) => !givenUp);
    if (open.length === 0) return;
    try {
      const outcomes = await writeOnce(
        pipelines,
        open.map(({ write }) => write),
        watch?.committed,
      );
      clock.written();
      open.forEach(({ resolve }, index) => {
        resolve(outcomes[index] as WriteOutcome);
      });
      return;
    } catch (error) {
      const trouble = passingTrouble(error);
      if (!trouble) throw error;
      if (lasts(trouble, clock.now() - began)) throw refusal(trouble, open.length, error, logger);
      await wait(pause * (0.5 + Math.random()));
    }
  }
}

/** Why packets are refused during a trouble that lasts. */
const REFUSALS = {
  full: 'packet.no_disk_space',
  'read-only': 'packet.database_read_only',
} as const satisfies Partial<Record<TroubleKind, Reason>>;

/** A trouble that lasts. */
type Lasting = Trouble & { kind: keyof typeof REFUSALS };

/** Whether retrying is useless. While the server is unreachable, each packet has its own deadline. */
function lasts(trouble: Trouble, waitedMs: number): trouble is Lasting {
  const { kind } = trouble;
  return kind === 'full' || (kind === 'read-only' && waitedMs >= REFUSED_PATIENCE_MS);
}

function refusal(
  { kind, message, retryAfter }: Lasting,
  packets: number,
  cause: unknown,
  logger: FastifyBaseLogger,
): Problem {
  logger.error({ err: cause, packets }, `${message}: packets refused`);
  return new Problem(REFUSALS[kind], {}, { retryAfter, cause });
}

/** Answers a request that has waited too long. */
function abandon(entry: Waiting, outcome: 'packet.not_stored_in_time' | 'packet.perhaps_stored'): void {
  entry.givenUp = true;
  entry.reject(new Problem(outcome, {}, { retryAfter: 5 }));
}

/** Answers come in the order in which batches were sent: what failed before this one on its connection is known by now. */
async function writeOnce(
  pipelines: Pipelines,
  writes: PacketWrite[],
  onCommitted: OnCommitted | undefined,
): Promise<WriteOutcome[]> {
  const pipeline = pipelines.enter(writes.every(canPipeline));
  try {
    return await writePackets(await pipeline.connection, writes, onCommitted);
  } catch (error) {
    if (!pipeline.failed) {
      pipeline.failed = true;
      throw error;
    }
  } finally {
    pipelines.leave(pipeline);
  }
  // The batch before it on the connection failed, and this one with it.
  return writeOnce(pipelines, writes, onCommitted);
}
