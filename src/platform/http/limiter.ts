import pLimit from 'p-limit';
import { Problem } from './problems.ts';
import type { Fault } from './reasons/catalogue.ts';

/** How many tasks run at once, and how many more may wait. */
export interface LimiterOptions {
  /** the fault when there is no room, such as upstream.busy */
  full: Fault;
  /** tasks that run at once */
  concurrency: number;
  /** tasks that wait, in the order in which they came; 0: none does */
  queue: number;
  /** seconds after which a refused client should come back */
  retryAfter?: number;
}

/** Runs a task when there is room for it; throws Problem unavailable when the queue is full. */
export type Limiter = <Result>(task: () => Promise<Result>) => Promise<Result>;

/** Bounds how many tasks run at once, and how many wait. */
export function limiter({ full, concurrency, queue, retryAfter = 1 }: LimiterOptions): Limiter {
  const limit = pLimit(concurrency);
  return async task => {
    if (limit.activeCount + limit.pendingCount >= concurrency + queue) {
      throw new Problem([full], { retryAfter });
    }
    return limit(task);
  };
}
