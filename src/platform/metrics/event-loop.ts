import type { Logger } from 'pino';

/** Time between two looks at the clock, in milliseconds. */
const TICK_MS = 500;
/** Delay of a look from which on the event loop has stalled, in milliseconds. */
const STALL_MS = 1000;

// A process has one event loop, however many services it runs.
let stalls = 0;

/** How often the event loop of this process has stalled. */
export const countStalls = (): number => stalls;

/**
 * Logs when the process did nothing for more than a second: it was paused (SIGSTOP, a suspended machine), starved of
 * processor time, or some work did not give way. At most one line for each stall.
 *
 * @returns a function that ends it
 */
export function watchEventLoop(logger: Logger): () => void {
  let expected = performance.now() + TICK_MS;
  const timer = setInterval(() => {
    const now = performance.now();
    const late = now - expected;
    expected = now + TICK_MS;
    if (late < STALL_MS) return;
    stalls++;
    logger.warn({ milliseconds: Math.round(late) }, 'the process stalled: it was paused or busy');
  }, TICK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
