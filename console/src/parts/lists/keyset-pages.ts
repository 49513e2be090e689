import type { LoadPage } from './pages.svelte.ts';

/** Rows of one page. */
export const LIMIT = 50;

/** The requested part of a list: the rows after one, without the total. */
export interface After {
  limit: number;
  after?: string;
  requestType: 'FETCH';
}

/** The pages of a list of the trace backend that continues after the id of a row, for `Pages`. */
export function byId<Row extends { id: number }>(
  load: (range: After, signal: AbortSignal) => Promise<{ items?: Row[] | undefined }>,
): LoadPage<Row> {
  return async (after, signal) => {
    const range = { limit: LIMIT, requestType: 'FETCH' as const, ...(after !== undefined && { after }) };
    const { items: rows = [] } = await load(range, signal);
    return { rows, next: rows.length < LIMIT ? undefined : String(rows.at(-1)?.id) };
  };
}
