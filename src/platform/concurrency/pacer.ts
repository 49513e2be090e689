/**
 * Requests time for a piece of work on the event loop.
 *
 * @param weight approximate duration in microseconds
 * @returns undefined if it may begin at once, otherwise a promise that resolves when it may
 */
export type Pace = (weight: number) => Promise<void> | undefined;

/**
 * Spreads work over the turns of the event loop: in one turn pieces begin until their weights exceed `perTurn`; the
 * rest waits for later turns, in order of arrival. Other requests are served between two turns, so that they wait no
 * longer than one turn and one piece.
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
