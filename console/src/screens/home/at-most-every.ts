/**
 * Does something when it is asked for, at most once in a time: however often it is asked for meanwhile, it is done once
 * more at the end of it.
 *
 * @param ms of the time, in milliseconds
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
