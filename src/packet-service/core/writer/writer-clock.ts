/** How long a request waits for its packet to be written, in milliseconds. */
const PATIENCE_MS = 10_000;
/** The writer hangs if it has written no batch for so long although some wait; in milliseconds. */
const HUNG_MS = 5000;
/** The resolution of the clock, in milliseconds. */
const TICK_MS = 500;

/**
 * The writer's clock. It ticks only while the process runs, so that nothing is given up because the process was
 * paused.
 */
export interface WriterClock {
  /** milliseconds since the writer was created */
  now(): number;
  /** Call this when an idle writer gets something to write. */
  began(): void;
  /** Call this after a batch was written. */
  written(): void;
  /** @throws Error if the writer hangs; call only while it has something to write */
  check(): void;
  stop(): void;
}

/**
 * @param giveUp called at each tick with the time since which requests have waited too long
 */
export function writerClock(giveUp: (since: number) => void): WriterClock {
  let now = 0;
  let moved = 0;
  const timer = setInterval(() => {
    now += TICK_MS;
    giveUp(now - PATIENCE_MS);
  }, TICK_MS).unref();
  const move = () => {
    moved = now;
  };

  return {
    now: () => now,
    began: move,
    written: move,
    check() {
      if (now - moved > HUNG_MS) throw new Error(`no packet was written for ${(now - moved) / 1000} s`);
    },
    stop: () => clearInterval(timer),
  };
}
