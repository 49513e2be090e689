import type { Database } from '../database/database.ts';
import { passingTrouble } from '../database/troubles.ts';
import { type Counted, countRequest } from './rate-limit-store.ts';

/** Counts in one process, at most; the oldest give way. */
const MAX_COUNTS = 20_000;

/** A limit of requests in a time. */
export interface RateLimit {
  max: number;
  windowMs: number;
}

/** Counts in this process, of windows that begin with their first request. */
export class ProcessCounts {
  readonly #counts = new Map<string, { count: number; until: number }>();

  /** Counts one more. */
  add(key: string, windowMs: number): Counted {
    const { count } = this.find(key) ?? { count: 0 };
    return this.set(key, { count: count + 1, ttl: count === 0 ? windowMs : this.#left(key) });
  }

  /** The count of a window that has not ended. */
  find(key: string): Counted | undefined {
    const ttl = this.#left(key);
    return ttl > 0 ? { count: this.#counts.get(key)?.count as number, ttl } : undefined;
  }

  set(key: string, counted: Counted): Counted {
    const { count, ttl } = counted;
    if (count === 1) this.#counts.delete(key);
    this.#counts.set(key, { count, until: Date.now() + ttl });
    const [oldest] = this.#counts.keys();
    if (this.#counts.size > MAX_COUNTS) this.#counts.delete(oldest as string);
    return counted;
  }

  #left(key: string): number {
    return (this.#counts.get(key)?.until ?? 0) - Date.now();
  }
}

/** Counts the requests of addresses to routes that have limits of their own, over all processes on one database. */
export interface AddressCounts {
  /** Where they are counted: a database with the table `address_counts`. Before this, in the process. */
  countIn(database: Database): void;
  /**
   * Counts one more. While the database takes no writes, the process counts.
   *
   * @throws what the database does not answer with
   */
  count(route: string, address: string, limit: RateLimit): Promise<Counted>;
}

export function addressCounts(): AddressCounts {
  let database: Database | undefined;
  const own = new ProcessCounts();
  /** Of those that have reached their limit, this process refuses more without asking the database. */
  const reached = new ProcessCounts();
  return {
    countIn(opened) {
      database = opened;
    },
    async count(route, address, { max, windowMs }) {
      const key = `${route} ${address}`;
      const known = reached.find(key);
      if (known) return known;
      if (!database) return own.add(key, windowMs);
      try {
        const counted = await countRequest(database, route, address, windowMs);
        return counted.count > max ? reached.set(key, counted) : counted;
      } catch (error) {
        const kind = passingTrouble(error)?.kind;
        if (kind !== 'full' && kind !== 'read-only') throw error;
        return own.add(key, windowMs);
      }
    },
  };
}
