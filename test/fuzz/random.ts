/** Numbers that a seed decides: the same seed gives the same requests on every machine. */
export interface Random {
  /** a whole number from 0 to below */
  below(limit: number): number;
  /** whether something of this probability happens */
  chance(probability: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
}

/** A random generator of a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return {
    below,
    chance: probability => next() < probability,
    pick: values => values[below(values.length)] as never,
  };
}
