import { Problem } from '../http/problems.ts';

/** How many tasks run at once, and how many more may wait. */
export interface LineLimits {
  /** what the tasks wait for, in the error: "the asset registry" */
  name: string;
  concurrency: number;
  queue: number;
}

/**
 * Lets `concurrency` tasks run at once and `queue` more wait, in the order in which they came.
 *
 * @returns a function that throws Problem unavailable when the line is full
 */
export function line({ name, concurrency, queue }: LineLimits) {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(task: () => Promise<Result>): Promise<Result> => {
    if (running === concurrency) {
      if (waiting.length === queue) {
        throw new Problem('unavailable', `too many requests wait for ${name}`, { retryAfter: 1 });
      }
      // Whoever ends hands its place on, so `running` stays as it is.
      await new Promise<void>(resolve => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
