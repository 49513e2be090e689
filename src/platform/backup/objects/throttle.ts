import { setTimeout as sleep } from 'node:timers/promises';

/** Waits before each piece of work to keep reading below a number of bytes per second. */
export type Throttle = (bytes: number, signal: AbortSignal) => Promise<void>;

/** Longest credit for time in which nothing was read, in milliseconds. */
const CREDIT_MS = 100;

export function throttle(bytesPerSecond: number): Throttle {
  let free = 0;
  return async (bytes, signal) => {
    signal.throwIfAborted();
    const now = performance.now();
    const begins = Math.max(free, now - CREDIT_MS);
    free = begins + (bytes / bytesPerSecond) * 1000;
    if (begins <= now) return;
    await sleep(begins - now, undefined, { signal }).catch(error => {
      // Why it was aborted, such as a block that could not be stored.
      throw signal.reason ?? error;
    });
  };
}
