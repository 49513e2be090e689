/** When a breaker opens, and for how long. */
export interface BreakerOptions {
  /** failures in a row after which the system is left alone */
  failures: number;
  /** how long it is left alone, in milliseconds: at first, */
  restMs: number;
  /** and at most, when it goes on failing: each rest is twice as long as the one before */
  longestRestMs?: number;
}

/** A circuit breaker (Nygard, "Release It!"): closed, open for a while after failures, then one trial. */
export interface CircuitBreaker {
  /** Seconds for which the system is still left alone; 0 when it may be asked. */
  secondsLeft(): number;
  /** Whether it has failed so often that the next request is a trial. */
  isTried(): boolean;
  /** Has others find the breaker open while a trial runs. */
  beginTrial(): void;
  failed(): void;
  succeeded(): void;
}

export function circuitBreaker({ failures, restMs, longestRestMs = restMs }: BreakerOptions): CircuitBreaker {
  let inARow = 0;
  let openUntil = 0;
  const isTried = () => inARow >= failures;
  return {
    secondsLeft: () => Math.max(0, (openUntil - performance.now()) / 1000),
    isTried,
    beginTrial() {
      if (isTried()) openUntil = performance.now() + restMs;
    },
    failed() {
      inARow++;
      if (!isTried()) return;
      openUntil = performance.now() + Math.min(restMs * 2 ** (inARow - failures), longestRestMs);
    },
    succeeded() {
      inARow = 0;
      openUntil = 0;
    },
  };
}
