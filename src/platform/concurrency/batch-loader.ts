/**
 * Turns many single look-ups into few of many: while one load is in flight, the keys that arrive are collected
 * and go into the next. There is no timer, so a lone look-up goes at once, and every look-up is loaded after it
 * was asked for: it sees whatever had been committed by then. A key that is asked for twice is loaded once.
 *
 * @param load gets distinct keys and gives their values in the same order; when it throws, only the callers of
 *   these keys fail
 * @param max keys in one load
 * @param same what two keys have in common that are the same; a key itself where it is not given
 */
export function batchLoader<Key, Value>(
  load: (keys: Key[]) => Promise<Value[]>,
  { max, same = key => key }: { max: number; same?: (key: Key) => unknown },
): (key: Key) => Promise<Value> {
  let waiting = new Map<unknown, { key: Key } & PromiseWithResolvers<Value>>();
  let busy = false;

  async function run(): Promise<void> {
    while (waiting.size > 0) {
      const batch = [...waiting.values()].slice(0, max);
      waiting = waiting.size <= max ? new Map() : new Map([...waiting].slice(max));
      const keys = batch.map(({ key }) => key);
      await Promise.try(load, keys).then(
        values => {
          batch.forEach(({ resolve }, index) => {
            resolve(values[index] as Value);
          });
        },
        error => {
          for (const { reject } of batch) reject(error);
        },
      );
    }
    busy = false;
  }

  return key => {
    const joined = waiting.get(same(key));
    if (joined) return joined.promise;
    const asked = { key, ...Promise.withResolvers<Value>() };
    waiting.set(same(key), asked);
    if (!busy) {
      busy = true;
      // After the event loop's turn, so that requests which arrived together are one load.
      setImmediate(run);
    }
    return asked.promise;
  };
}
