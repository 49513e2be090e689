/** A weighted semaphore, which admits in order of arrival. */
export interface Room {
  /** Acquires a weight: returns undefined if there is room at once, otherwise a promise that resolves when there is. */
  enter(weight: number): Promise<void> | undefined;
  /** Releases an acquired weight. */
  leave(weight: number): void;
}

/**
 * @param total the total weight. Heavier items are admitted alone.
 */
export function room(total: number): Room {
  const waiting: { weight: number; enter: () => void }[] = [];
  let inside = 0;
  const fits = (weight: number) => inside === 0 || inside + weight <= total;
  return {
    enter(weight) {
      if (waiting.length > 0 || !fits(weight)) {
        return new Promise(enter => waiting.push({ weight, enter }));
      }
      inside += weight;
      return undefined;
    },
    leave(weight) {
      inside -= weight;
      for (let next = waiting[0]; next && fits(next.weight); next = waiting[0]) {
        waiting.shift();
        inside += next.weight;
        next.enter();
      }
    },
  };
}
