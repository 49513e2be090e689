import { Problem } from './problems.ts';
import type { Fault } from './reasons/catalogue.ts';

/** Slots in this process, and how long a request waits for one. */
export interface WaitingSlots {
  /** how many, at least 1 */
  most: number;
  /** milliseconds */
  patienceMs: number;
  /** the fault when none is free in time */
  full: Fault;
  /** of that error, in seconds */
  retryAfter: number;
}

/**
 * Bounds how many of something run at once in this process. Further ones wait for a while, in order of arrival.
 *
 * @returns takes a slot and resolves to a function that frees it, to be called once; rejects with Problem unavailable
 *   if none is free in time
 */
export function waitingSlots({
  most,
  patienceMs,
  full,
  retryAfter,
}: WaitingSlots): () => Promise<() => void> {
  const waiting = new Set<() => void>();
  let taken = 0;
  const free = () => {
    const [next] = waiting;
    if (next) next();
    else taken--;
  };
  return async () => {
    if (taken < most) {
      taken++;
      return free;
    }
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        waiting.delete(admit);
        resolve(free);
      };
      const timer = setTimeout(() => {
        waiting.delete(admit);
        reject(new Problem([full], { retryAfter }));
      }, patienceMs);
      waiting.add(admit);
    });
  };
}
