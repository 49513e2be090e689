/** Maximum reads that are kept: one of 20,000 packets has 640 kB. */
const MAX_KEPT = 32;
/** How long a read is kept, in milliseconds: another database may have the same state. */
const MAX_AGE_MS = 30_000;

/** Reads of packets that several tiles are cut from. */
export interface SharedReads<Value> {
  /** The finished or running read for this key in this state. */
  find(key: string, state: string | undefined): Promise<Value> | undefined;
  /**
   * The same; what was not read yet is read now, once for all who ask meanwhile, and kept while the state lasts.
   *
   * @param state read before; undefined if there is none, so that nothing is kept
   * @param readState reads it once more: what was read while it changed, or from a server that is behind, is not kept
   */
  read(
    key: string,
    state: string | undefined,
    read: () => Promise<Value>,
    readState: () => Promise<string | undefined>,
  ): Promise<Value>;
}

interface Kept<Value> {
  state: string;
  since: number;
  value: Promise<Value>;
}

/** @param now milliseconds of a clock that never goes back */
export function sharedReads<Value>(now: () => number = () => performance.now()): SharedReads<Value> {
  const kept = new Map<string, Kept<Value>>();

  function find(key: string, state: string | undefined): Promise<Value> | undefined {
    const earlier = kept.get(key);
    if (!earlier || earlier.state !== state || now() - earlier.since > MAX_AGE_MS) return undefined;
    // The last in the map was requested last.
    kept.delete(key);
    kept.set(key, earlier);
    return earlier.value;
  }

  return {
    find,
    read(key, state, read, readState) {
      const shared = find(key, state);
      if (shared || state === undefined) return shared ?? read();
      const value = read();
      const entry = { state, since: now(), value };
      kept.delete(key);
      kept.set(key, entry);
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      const drop = () => {
        if (kept.get(key) === entry) kept.delete(key);
      };
      void value
        .then(readState)
        .then(after => after !== state && drop())
        .catch(drop);
      return value;
    },
  };
}
