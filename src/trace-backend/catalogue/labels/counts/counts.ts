import type { FastifyBaseLogger } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Database } from '../../../../platform/database/database.ts';
import { addressBlock } from '../../../../platform/http/address.ts';
import { addCounts, type Increment, type Kind } from './store.ts';

/** How often counts are written, in milliseconds. */
const FLUSH_MS = 10_000;
/** How long repeated visits and checks from an address are not counted again, in milliseconds. */
const ONCE_MS = 10 * 60_000;
/** Maximum number of remembered visits, and of counts that wait to be written. */
const MAX_VISITS = 20_000;
const MAX_WAITING = 10_000;

/** Counts how often labels are visited and checked, for their statistics. */
export interface LabelCounts {
  /** Counts a visit or check, once in ten minutes per address (IPv6: /64). */
  add(counted: { labelId: number; kind: Kind }, address: string): void;
  /** Writes waiting counts. */
  flush(): Promise<void>;
  /** Writes waiting counts, then stops. */
  stop(): Promise<void>;
}

/**
 * Counts in memory, and writes the counts of all labels every ten seconds in one statement: the row of a popular label
 * changes only a few times a minute. A crash loses the counts of ten seconds.
 */
export function openLabelCounts(database: Database, logger: FastifyBaseLogger): LabelCounts {
  const seen = new LRUCache<string, true>({ maxSize: MAX_VISITS, sizeCalculation: () => 1, ttl: ONCE_MS });
  let waiting = new Map<string, Increment>();
  let writing = Promise.resolve();
  const timer = setInterval(() => void flush().catch(logFailure), FLUSH_MS);
  timer.unref();

  function add({ labelId, kind }: { labelId: number; kind: Kind }, address: string): void {
    const key = `${labelId} ${kind}`;
    const visit = `${key} ${addressBlock(address)}`;
    if (seen.has(visit)) return;
    seen.set(visit, true);
    const pending = waiting.get(key);
    if (pending) pending.count++;
    else if (waiting.size < MAX_WAITING) waiting.set(key, { labelId, kind, count: 1 });
  }

  async function flush(): Promise<void> {
    const before = writing;
    writing = before.then(write, write);
    await writing;
  }

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const written = waiting;
    waiting = new Map();
    try {
      await addCounts(database, [...written.values()]);
    } catch (error) {
      for (const [key, { count, ...counted }] of written) {
        waiting.set(key, { ...counted, count: count + (waiting.get(key)?.count ?? 0) });
      }
      throw error;
    }
  }

  function logFailure(error: unknown): void {
    logger.warn({ err: error }, 'counts of labels could not be written; next try in ten seconds');
  }

  return {
    add,
    flush,
    async stop() {
      clearInterval(timer);
      await flush().catch(logFailure);
    },
  };
}

/** The counts of a label as in answers. Addresses are not located, so countries and locations are unknown. */
export function asAnalytics(counts: Partial<Record<Kind, number>>) {
  const { VISIT = 0, AUTH_TRUE = 0, AUTH_FALSE = 0, ORIGIN_TRUE = 0, ORIGIN_FALSE = 0 } = counts;
  const unknown = (count: number): Record<string, number> => (count === 0 ? {} : { unknown: count });
  const [checks, traces] = [unknown(AUTH_TRUE + AUTH_FALSE), unknown(ORIGIN_TRUE + ORIGIN_FALSE)];
  return {
    visits: VISIT,
    visitsCountries: unknown(VISIT),
    visitsLocations: unknown(VISIT),
    authTrue: AUTH_TRUE,
    authFalse: AUTH_FALSE,
    authCountries: checks,
    authLocations: checks,
    originTrue: ORIGIN_TRUE,
    originFalse: ORIGIN_FALSE,
    originCountries: traces,
    originLocations: traces,
  };
}
