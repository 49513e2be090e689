/**
 * Limits how often `work` runs: at once for the first request, and once more at the end of the interval if there were
 * further ones.
 *
 * @param ms the interval, in milliseconds
 */
export function atMostEvery(ms: number, work: () => void): { ask: () => void; end: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isPending = false;
  function ask(): void {
    if (timer !== undefined) {
      isPending = true;
      return;
    }
    work();
    timer = setTimeout(() => {
      timer = undefined;
      if (!isPending) return;
      isPending = false;
      ask();
    }, ms);
  }
  return { ask, end: () => clearTimeout(timer) };
}
