import { Worker } from 'node:worker_threads';
import type { Connection } from '../../../platform/database/database.ts';
import type { Deadline } from '../../../platform/database/deadlines.ts';
import type { IdRange } from '../../core/packets/verify-store.ts';
import type { RangeResult } from './range.ts';

/** Ranges that a thread has at once: while it computes one, the server reads another. */
export const RANGES_AT_ONCE = 2;
/** No request waits for an answer, and a disk may be slow. */
export const STATEMENT_DEADLINE: Deadline = { ms: 10 * 60_000, of: 'statement' };

/** Megabytes of a thread's heap: far more than what two ranges of the largest packets take that are read together. */
const HEAP = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

export interface RangeRequest {
  id: number;
  range: IdRange;
}

/** One of the two comes back. */
export interface RangeAnswer {
  id: number;
  result?: RangeResult;
  error?: { message: string; code?: string };
}

/** A thread that verifies ranges of packets, on connections of its own. */
export interface RangeThread {
  verify(range: IdRange): Promise<RangeResult>;
  end(): Promise<void>;
}

export function startRangeThread(connection: Connection): RangeThread {
  const worker = new Worker(new URL('./range-worker.ts', import.meta.url), {
    workerData: { connection },
    resourceLimits: HEAP,
  });
  const waiting = new Map<number, PromiseWithResolvers<RangeResult>>();
  let count = 0;
  let failure = new Error('the thread that verifies packets has ended');
  worker.on('message', ({ id, result, error }: RangeAnswer) => {
    const pending = waiting.get(id);
    waiting.delete(id);
    if (result) pending?.resolve(result);
    else pending?.reject(Object.assign(new Error(error?.message), error));
  });
  worker.on('error', error => {
    failure = error as Error;
  });
  worker.on('exit', () => {
    for (const { reject } of waiting.values()) reject(failure);
  });
  return {
    verify(range) {
      const pending = Promise.withResolvers<RangeResult>();
      waiting.set(++count, pending);
      worker.postMessage({ id: count, range } satisfies RangeRequest);
      return pending.promise;
    },
    async end() {
      await worker.terminate();
    },
  };
}
