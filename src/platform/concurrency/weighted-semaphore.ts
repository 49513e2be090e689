/** Admits work up to a total weight, in order of arrival. */
export interface WeightedSemaphore {
  /** Acquires a weight: returns undefined if it is free at once, otherwise a promise that resolves when it is. */
  acquire(weight: number): Promise<void> | undefined;
  /** Releases an acquired weight. */
  release(weight: number): void;
}

/**
 * @param total the total weight. Heavier items are admitted alone.
 */
export function weightedSemaphore(total: number): WeightedSemaphore {
  const waiting: { weight: number; admit: () => void }[] = [];
  let acquired = 0;
  const fits = (weight: number) => acquired === 0 || acquired + weight <= total;
  return {
    acquire(weight) {
      if (waiting.length > 0 || !fits(weight)) {
        return new Promise(admit => waiting.push({ weight, admit }));
      }
      acquired += weight;
      return undefined;
    },
    release(weight) {
      acquired -= weight;
      for (let next = waiting[0]; next && fits(next.weight); next = waiting[0]) {
        waiting.shift();
        acquired += next.weight;
        next.admit();
      }
    },
  };
}
