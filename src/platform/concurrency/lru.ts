/** A cache that forgets what was not used for longest, once what it holds weighs more than it may. */
export interface Lru<Value> {
  get(key: string): Value | undefined;
  set(key: string, value: Value): void;
}

/**
 * @param maxWeight sum of the weights that are kept
 * @param weigh what one value weighs, such as the bytes it holds; one by default
 */
export function lru<Value>(maxWeight: number, weigh: (value: Value) => number = () => 1): Lru<Value> {
  // A Map keeps its keys in the order of insertion, so the first key is the one not used for longest.
  const entries = new Map<string, Value>();
  let weight = 0;

  function forget(key: string): void {
    const value = entries.get(key);
    if (value === undefined) return;
    entries.delete(key);
    weight -= weigh(value);
  }

  return {
    get(key) {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key, value) {
      forget(key);
      entries.set(key, value);
      weight += weigh(value);
      for (const oldest of entries.keys()) {
        if (weight <= maxWeight) break;
        forget(oldest);
      }
    },
  };
}
