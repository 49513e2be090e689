/** Waits until work has ended, successfully or not, but at most `ms` milliseconds; returns whether it ended in time. */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), ms);
  const ended = () => resolve(true);
  work.then(ended, ended);
  const inTime = await promise;
  clearTimeout(timer);
  return inTime;
}
