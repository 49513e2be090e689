/** The thresholds at which a breaker opens, and the time for which it stays open. */
export interface BreakerOptions {
  /** consecutive failures after which the breaker opens */
  failures: number;
  /** how long it stays open, in milliseconds: at first, */
  restMs: number;
  /** and at most; the time doubles with each failed trial */
  longestRestMs?: number;
}

/** A circuit breaker (Nygard, "Release It!"): closed, open for a while after failures, then one trial. */
export interface CircuitBreaker {
  /** Seconds for which the breaker stays open; 0 if it is closed. */
  secondsLeft(): number;
  /** Whether it has failed so often that the next request is a trial. */
  isTried(): boolean;
  /** Keeps the breaker open for others while a trial runs. */
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
