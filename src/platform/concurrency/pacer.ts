/**
 * Asks for a piece of work that holds the event loop.
 *
 * @param weight about how many microseconds it takes
 * @returns undefined when it may begin at once, otherwise what resolves when it may
 */
export type Pace = (weight: number) => Promise<void> | undefined;

/**
 * Spreads work over the turns of the event loop: in one turn pieces begin until they weigh more than `perTurn`, the rest
 * waits for later turns in the order in which it came. Between two turns everybody else's requests are served, so none
 * of them waits for longer than one turn and one piece take.
 */
export function pacer(perTurn: number): Pace {
  const waiting: { weight: number; begin: () => void }[] = [];
  let left = perTurn;
  let scheduled = false;

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    scheduled = false;
    left = perTurn;
    while (left > 0) {
      const next = waiting.shift();
      if (!next) break;
      left -= next.weight;
      next.begin();
    }
    if (left < perTurn) schedule();
  }

  return weight => {
    schedule();
    if (waiting.length === 0 && left > 0) {
      left -= weight;
      return undefined;
    }
    return new Promise(begin => waiting.push({ weight, begin }));
  };
}
