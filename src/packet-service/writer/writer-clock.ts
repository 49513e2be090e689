/** How long a request waits for its packet to be written, in milliseconds. */
const PATIENCE_MS = 10_000;
/** Without a batch written for so long, while there are batches to write, the writer hangs; in milliseconds. */
const HUNG_MS = 5000;
/** How exact the clock is, in milliseconds. */
const TICK_MS = 500;

/** The writer's clock. It ticks only while the process runs: a process that was paused gives up nothing for it. */
export interface WriterClock {
  /** milliseconds since the writer was made */
  now(): number;
  /** Notes that the writer, idle before, has something to write. */
  began(): void;
  /** Notes that a batch was written. */
  written(): void;
  /** @throws Error when the writer hangs; called while it has something to write */
  check(): void;
  stop(): void;
}

/** @param giveUp told at each tick since when requests have waited for too long */
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
