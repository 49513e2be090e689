import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { passingTrouble, type TroubleKind } from './troubles.ts';

/**
 * Whether a service can work with its database.
 *
 * - DATABASE_UNREACHABLE: reads are not answered
 * - WRITER_HUNG: reads are answered, writes are not
 * - WRITES_REFUSED: the server refuses writes (its disk is full, or it is read-only); reads are answered
 */
export const CONDITIONS = ['OK', 'DATABASE_UNREACHABLE', 'WRITER_HUNG', 'WRITES_REFUSED'] as const;
export type ConditionStatus = (typeof CONDITIONS)[number];

/** The probes. */
export interface Probes {
  /** Reads something, the way requests do. */
  read(): Promise<unknown>;
  /**
   * Commits something, the way requests do.
   *
   * @param space whether the server must also allocate a megabyte, because small writes succeed on a full disk
   */
  write(space: boolean): Promise<unknown>;
}

export interface Condition {
  /** To be called when the server has refused a write. */
  refused(kind: TroubleKind): void;
  /** Starts to probe in the background. */
  start(probes: Probes): void;
  /** The result of the last probe; waits for the first one. */
  status(): Promise<ConditionStatus>;
  stop(): void;
}

/** Time between two probes, in milliseconds: while all is well, and while it is not. */
const PAUSE_MS = { well: 5000, ill: 1000 };
/** How long a probe waits for an answer, in milliseconds. */
const PATIENCE_MS = 5000;

/** Probes one service's database now and then, so that a health check never waits for it. */
export function databaseCondition(logger: FastifyBaseLogger): Condition {
  const first = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let status: ConditionStatus = 'OK';
  let outOfSpace = false;

  function become(next: ConditionStatus, reason?: string): void {
    if (next === status) return;
    if (next === 'OK') logger.info({ was: status }, 'the database accepts reads and writes again');
    else logger.error({ status: next, reason }, 'the database has a problem; see GET /health');
    status = next;
  }

  async function probe({ read, write }: Probes): Promise<void> {
    try {
      await inTime(read());
    } catch (error) {
      return become('DATABASE_UNREACHABLE', (error as Error).message);
    }
    try {
      await inTime(write(outOfSpace));
      outOfSpace = false;
      become('OK');
    } catch (error) {
      const kind = passingTrouble(error)?.kind;
      if (kind === 'full') outOfSpace = true;
      // Without an answer nothing says that there is room again: only a write that succeeds does.
      const isRefused = outOfSpace || kind === 'read-only';
      become(isRefused ? 'WRITES_REFUSED' : 'WRITER_HUNG', (error as Error).message);
    }
  }

  let running = false;

  async function run(probes: Probes): Promise<void> {
    running = true;
    while (!stopping.signal.aborted) {
      await probe(probes);
      first.resolve();
      const pause = status === 'OK' ? PAUSE_MS.well : PAUSE_MS.ill;
      await wait(pause, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }

  return {
    refused(kind) {
      if (kind === 'full') outOfSpace = true;
      if (status === 'OK') become('WRITES_REFUSED', `a write was refused: ${kind}`);
    },
    start: run,
    async status() {
      if (running) await first.promise;
      return status;
    },
    stop: () => stopping.abort(),
  };
}

/** @throws Error without a code when there is no answer in time */
async function inTime(answer: Promise<unknown>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`no answer within ${PATIENCE_MS / 1000} s`)),
    PATIENCE_MS,
  ).unref();
  await Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}
