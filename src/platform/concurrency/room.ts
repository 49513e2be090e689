/** Room for things of different weights, which are let in in the order in which they came. */
export interface Room {
  /** Lets something in: undefined when there is room at once, otherwise what resolves when there is. */
  enter(weight: number): Promise<void> | undefined;
  /** Gives back what something took that was let in. */
  leave(weight: number): void;
}

/**
 * @param total what may be inside together. Something heavier is let in alone.
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
