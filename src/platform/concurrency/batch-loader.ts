/**
 * Combines single look-ups into batches: while one load is in flight, the keys that arrive are collected for the
 * next. There is no timer, so a lone look-up is loaded at once, and every load begins after the look-up was
 * requested, so that it sees everything committed by then. A key that is requested twice is loaded once.
 *
 * @param load gets distinct keys and returns their values in the same order; if it throws, only the callers of these
 *   keys fail
 * @param max keys in one load
 * @param same returns what equal keys have in common; by default the key itself
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
    const entry = { key, ...Promise.withResolvers<Value>() };
    waiting.set(same(key), entry);
    if (!busy) {
      busy = true;
      // After the event loop's turn, so that requests which arrived together are one load.
      setImmediate(run);
    }
    return entry.promise;
  };
}
