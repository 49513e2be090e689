/** A wait that ends after a time, or when it is woken. */
export interface WakeableWait {
  /** Ends the wait; one that begins later ends at once. */
  wake(): void;
  /** Clears earlier wakes. */
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
