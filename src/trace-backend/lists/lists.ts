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

/** Up to so many rows a count is exact. */
export const EXACT = 10_000;
/**
 * Rows that are looked at in the order of a list before all that match are gathered and sorted instead: for each row
 * that is wanted, and in all.
 */
const WINDOW_PER_ROW = 100;
const WINDOW = 30_000;
/** How long it is remembered that a list is long, and about how long, in milliseconds. */
const REMEMBERED_MS = 10_000;
/** Lists of which that is remembered. */
const REMEMBERED = 1_000;
/** How long the frequencies of tokens are believed, in milliseconds. */
const FREQUENCIES_MS = 60_000;

/** Makes pages of lists that may be long. */
export interface Lists {
  /**
   * A page of a list, and how many items there are in all: exactly up to 10,000 or where only the count is asked for,
   * else about, and never fewer than up to the end of the page.
   *
   * @param name what tells this list, with what it is filtered by, from all others
   */
  list<Row extends { id: number }>(
    database: Database,
    name: string,
    source: ListSource,
    page: Page,
  ): Promise<{ items: Row[]; count: number }>;
  /** The tokens by which a table's index is asked for a folded text. */
  ngramsFor(database: Database, table: string, folded: string): Promise<string[]>;
}

/** Lists of one service; what they remember is about one database. */
export function openLists(): Lists {
  const long = new LRUCache<string, { count: number; until: number }>({ max: REMEMBERED });
  const frequencies = new Map<string, { of: Promise<Map<string, number>>; until: number }>();

  /** About how many rows a list has that was found to be long. */
  async function estimate(database: Database, name: string, source: ListSource): Promise<number> {
    const count = Math.max(EXACT + 1, await estimateRows(database, source));
    // Near the border it is looked at each time, so that it is exact again as soon as the list is short.
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
 * A page of a list in which there are many rows: they are met soon on a walk through the table in the list's order. Where
 * they are not, because they stand together at its other end, all of them are gathered and sorted.
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
