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
export const EXACT = 10_000;
/**
 * Rows that are checked in the order of a list, per matching row, before all matching rows are gathered and sorted
 * instead, which takes about as long.
 */
const CHECKED_PER_MATCH = 10;
/** How long the estimated length of a long list is cached, in milliseconds. */
const REMEMBERED_MS = 10_000;
/** The same for a list of up to twice as many rows as are counted, whose count is exact again if it gets shorter. */
const NEARLY_SHORT_MS = 1_000;
/** Lists in that cache. */
const REMEMBERED = 1_000;
/** How long the frequencies of n-grams are cached, in milliseconds. */
const FREQUENCIES_MS = 60_000;

/** Pages of lists that may be long. */
export interface Lists {
  /**
   * A page of a list, and the total number of items: exact up to 10,000 or if only the count is requested, otherwise
   * an estimate, but never less than the end of the page. A page after an item is read by the key of that item, and
   * its count is of no use.
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

/** What is known about a long list. */
interface Estimate {
  count: number;
  /** rows to check for a page, at most; undefined for all */
  window: number | undefined;
}

/** Lists of one service and database, with their cache. */
export function openLists(): Lists {
  const long = new LRUCache<string, Estimate & { until: number }>({ max: REMEMBERED });
  const frequencies = new Map<string, { of: Promise<Map<string, number>>; until: number }>();

  async function estimate(database: Database, name: string, source: ListSource): Promise<Estimate> {
    const { all, matching } = await estimateRows(database, source);
    const count = Math.max(EXACT + 1, matching);
    const window = count * CHECKED_PER_MATCH;
    const estimated = { count, window: window < all ? window : undefined };
    const lasts = count > 2 * EXACT ? REMEMBERED_MS : NEARLY_SHORT_MS;
    long.set(name, { ...estimated, until: performance.now() + lasts });
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
      const known = long.get(name);
      const now = performance.now();
      let estimated: Estimate | undefined = known && known.until > now ? known : undefined;
      if (estimated === undefined) {
        // One request counts again; those beside it go on with what was known.
        if (known) known.until = now + NEARLY_SHORT_MS;
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
 * A page of a list with many matching rows: a walk in the list's order usually finds it soon. If they are few in a long
 * table, and all at its other end, all of them are gathered and sorted.
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
