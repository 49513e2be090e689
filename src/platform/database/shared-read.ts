import pg from 'pg';
import { batchLoader } from '../concurrency/batch-loader.ts';
import type { Database } from './database.ts';

/** Keys in one statement. */
const MAX_KEYS = 500;

/** A look-up of what is stored for a key. */
export interface SharedRead<Key, Value> {
  one(database: Database, key: Key): Promise<Value>;
  /** In the order of the keys. */
  many(database: Database, keys: readonly Key[]): Promise<Value[]>;
}

/**
 * A look-up by key that requests share: what they look up at the same time through a pool is one statement. Nothing is
 * remembered: a statement begins after each of its look-ups was requested, so it sees everything that was committed by
 * then. In a transaction every look-up is a statement of its own.
 *
 * @param load returns what is stored for distinct keys, in their order
 */
export function sharedRead<Key extends string | number, Value>(
  load: (database: Database, keys: readonly Key[]) => Promise<Value[]>,
): SharedRead<Key, Value> {
  const loaders = new WeakMap<pg.Pool, (key: Key) => Promise<Value>>();

  function loaderOf(pool: pg.Pool): (key: Key) => Promise<Value> {
    const existing = loaders.get(pool);
    if (existing) return existing;
    const loader = batchLoader((keys: Key[]) => load(pool, keys), { max: MAX_KEYS });
    loaders.set(pool, loader);
    return loader;
  }

  return {
    async one(database, key) {
      if (database instanceof pg.Pool) return loaderOf(database)(key);
      const [value] = await load(database, [key]);
      return value as Value;
    },
    async many(database, keys) {
      if (database instanceof pg.Pool) return Promise.all(keys.map(loaderOf(database)));
      const distinct = [...new Set(keys)];
      if (distinct.length === 0) return [];
      const values = await load(database, distinct);
      const byKey = new Map(distinct.map((key, index) => [key, values[index] as Value]));
      return keys.map(key => byKey.get(key) as Value);
    },
  };
}

/** The row of each key, in the order of the keys; undefined for those without one. */
export function rowsByKey<Key, Row>(
  keys: readonly Key[],
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): (Row | undefined)[] {
  const byKey = new Map(rows.map(row => [keyOf(row), row]));
  return keys.map(key => byKey.get(key));
}

/** The rows of each key, in the order of the keys; each list keeps the order of the rows. */
export function groupedByKey<Key, Row>(
  keys: readonly Key[],
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
): Row[][] {
  const byKey = Map.groupBy(rows, keyOf);
  return keys.map(key => byKey.get(key) ?? []);
}
