import { LRUCache } from 'lru-cache';
import type { Database } from '../../../platform/database/database.ts';
import type { Page } from '../contract/schemas.ts';
import { rarestNgrams } from './search.ts';
import {
  countRows,
  estimateRows,
  findNgramFrequencies,
  gatherRows,
  type ListSource,
  nextRows,
  walkRows,
} from './store.ts';

/** Counts up to this many rows are exact. */
const EXACT = 10_000;
/**
 * Rows checked in the order of a list per matching row. Beyond that, gathering and sorting all matching rows is about as
 * fast.
 */
const CHECKED_PER_MATCH = 10;
/** How long the estimated length of a long list is cached, in milliseconds. */
const CACHED_MS = 10_000;
/** Like `CACHED_MS`, for lists up to twice `EXACT`: their count becomes exact when they get shorter. */
const NEARLY_SHORT_MS = 1_000;
/** Maximum number of lists in that cache. */
const MAX_CACHED = 1_000;
/** How long the frequencies of n-grams are cached, in milliseconds. */
const FREQUENCIES_MS = 60_000;

/** Pages of lists that may be long. */
export interface Lists {
  /**
   * A page of a list, and the total number of items: exact up to 10,000 or if only the count is requested, otherwise
   * an estimate, but never less than the end of the page. With `page.after` the count is always 0.
   *
   * @param name identifies the list with its filters
   */
  list<Row extends { id: number }>(
    database: Database,
    name: string,
    source: ListSource,
    page: Page,
  ): Promise<{ items: Row[]; count: number }>;
  /** The n-grams for the index query of a folded text. */
  ngramsFor(database: Database, table: string, folded: string): Promise<string[]>;
}

/** The estimated length of a long list. */
interface Estimate {
  count: number;
  /** maximum rows to check for a page; undefined for all */
  window: number | undefined;
}

/** Lists of one service and database, with their cache. */
export function openLists(): Lists {
  const long = new LRUCache<string, Estimate & { until: number }>({ max: MAX_CACHED });
  const frequencies = new Map<string, { promise: Promise<Map<string, number>>; until: number }>();

  async function estimate(database: Database, name: string, source: ListSource): Promise<Estimate> {
    const { all, matching } = await estimateRows(database, source);
    const count = Math.max(EXACT + 1, matching);
    const window = count * CHECKED_PER_MATCH;
    const estimated = { count, window: window < all ? window : undefined };
    const lifetime = count > 2 * EXACT ? CACHED_MS : NEARLY_SHORT_MS;
    long.set(name, { ...estimated, until: performance.now() + lifetime });
    return estimated;
  }

  return {
    async list<Row extends { id: number }>(
      database: Database,
      name: string,
      source: ListSource,
      page: Page,
    ): Promise<{ items: Row[]; count: number }> {
      if (page.requestType === 'COUNT') return { items: [], count: await countRows(database, source) };
      const { after } = page;
      if (after !== undefined)
        return { items: await nextRows(database, source, { ...page, after }), count: 0 };
      const cached = long.get(name);
      const now = performance.now();
      let estimated: Estimate | undefined = cached && cached.until > now ? cached : undefined;
      if (estimated === undefined) {
        // This request counts again; concurrent requests use the cached count meanwhile.
        if (cached) cached.until = now + NEARLY_SHORT_MS;
        const { items, total } = await gatherRows<Row>(database, source, page, EXACT + 1);
        if (total <= EXACT) {
          long.delete(name);
          return { items, count: total };
        }
        estimated = await estimate(database, name, source);
      }
      const { items, total } = await pageOfMany<Row>(database, source, page, estimated);
      const end = page.offset + items.length;
      const isLast = items.length < page.limit && items.length > 0;
      return { items, count: total ?? (isLast ? end : Math.max(estimated.count, end)) };
    },
    async ngramsFor(database, table, folded) {
      let cached = frequencies.get(table);
      if (!cached || cached.until < performance.now()) {
        const promise = findNgramFrequencies(database, table);
        promise.catch(() => frequencies.delete(table));
        cached = { promise, until: performance.now() + FREQUENCIES_MS };
        frequencies.set(table, cached);
      }
      return rarestNgrams(folded, await cached.promise);
    },
  };
}

/**
 * A page of a list with many matching rows. Walking the table in the list's order usually finds it soon; if the matching
 * rows are all at the other end of a long table, they are gathered and sorted instead.
 */
async function pageOfMany<Row extends { id: number }>(
  database: Database,
  source: ListSource,
  page: Page,
  { window }: Estimate,
): Promise<{ items: Row[]; total?: number }> {
  const items = await walkRows<Row>(database, source, page, window);
  if (items.length === page.limit || window === undefined) return { items };
  return gatherRows<Row>(database, source, page);
}
