import { LRUCache } from 'lru-cache';
import type { Database } from '../../platform/postgres/database.ts';
import type { Page } from '../contract/schemas.ts';
import { rarestNgrams } from './search.ts';
import {
  countRows,
  estimateRows,
  findNgramFrequencies,
  gatherRows,
  type ListSource,
  walkRows,
} from './store.ts';

/** Counts up to this many rows are exact. */
export const EXACT = 10_000;
/**
 * Rows that are scanned in the order of a list before all matching rows are gathered and sorted instead: per
 * requested row, and in total.
 */
const WINDOW_PER_ROW = 100;
const WINDOW = 30_000;
/** How long the estimated length of a long list is cached, in milliseconds. */
const REMEMBERED_MS = 10_000;
/** Lists in that cache. */
const REMEMBERED = 1_000;
/** How long the frequencies of n-grams are cached, in milliseconds. */
const FREQUENCIES_MS = 60_000;

/** Pages of lists that may be long. */
export interface Lists {
  /**
   * A page of a list, and the total number of items: exact up to 10,000 or if only the count is requested, otherwise
   * an estimate, but never less than the end of the page.
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

/** Lists of one service and database, with their cache. */
export function openLists(): Lists {
  const long = new LRUCache<string, { count: number; until: number }>({ max: REMEMBERED });
  const frequencies = new Map<string, { of: Promise<Map<string, number>>; until: number }>();

  /** The estimated number of rows of a long list. */
  async function estimate(database: Database, name: string, source: ListSource): Promise<number> {
    const count = Math.max(EXACT + 1, await estimateRows(database, source));
    // Near the limit it is not cached, so that it is exact again as soon as the list is short.
    if (count > 2 * EXACT) long.set(name, { count, until: performance.now() + REMEMBERED_MS });
    return count;
  }

  return {
    async list<Row extends { id: number }>(
      database: Database,
      name: string,
      source: ListSource,
      page: Page,
    ): Promise<{ items: Row[]; count: number }> {
      if (page.requestType === 'COUNT') return { items: [], count: await countRows(database, source) };
      const known = long.get(name);
      let count = known && known.until > performance.now() ? known.count : undefined;
      if (count === undefined) {
        const { items, total } = await gatherRows<Row>(database, source, page, EXACT + 1);
        if (total <= EXACT) return { items, count: total };
        count = await estimate(database, name, source);
      }
      const { items, total } = await pageOfMany<Row>(database, source, page);
      const end = page.offset + items.length;
      const isLast = items.length < page.limit && items.length > 0;
      return { items, count: total ?? (isLast ? end : Math.max(count, end)) };
    },
    async ngramsFor(database, table, folded) {
      let known = frequencies.get(table);
      if (!known || known.until < performance.now()) {
        const of = findNgramFrequencies(database, table);
        of.catch(() => frequencies.delete(table));
        known = { of, until: performance.now() + FREQUENCIES_MS };
        frequencies.set(table, known);
      }
      return rarestNgrams(folded, await known.of);
    },
  };
}

/**
 * A page of a list with many matching rows: a walk through the table in the list's order usually finds them soon. If
 * not, because they are all at its other end, all of them are gathered and sorted.
 */
async function pageOfMany<Row extends { id: number }>(
  database: Database,
  source: ListSource,
  page: Page,
): Promise<{ items: Row[]; total?: number }> {
  if (source.look === undefined) return { items: await walkRows<Row>(database, source, page) };
  const end = page.offset + page.limit;
  if (end <= WINDOW) {
    const window = Math.min(WINDOW, end * WINDOW_PER_ROW);
    const items = await walkRows<Row>(database, source, page, window);
    if (items.length === page.limit) return { items };
  }
  return gatherRows<Row>(database, source, page);
}
