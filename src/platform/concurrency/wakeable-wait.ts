/** A wait that ends after a time, or as soon as somebody wakes it. */
export interface WakeableWait {
  /** Ends the wait; one that has not begun yet then ends at once. */
  wake(): void;
  /** Forgets earlier wakes. */
  reset(): void;
  /** Resolves after `ms` milliseconds, or when woken since the last reset. */
  wait(ms: number): Promise<void>;
}

/** A wait for one waiter at a time; a wake is remembered until `reset`. */
export function wakeableWait(): WakeableWait {
  let woken = false;
  let end = () => {};
  return {
    wake() {
      woken = true;
      end();
    },
    reset() {
      woken = false;
    },
    async wait(ms) {
      if (woken) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ms);
      end = resolve;
      await promise;
      clearTimeout(timer);
    },
  };
}
