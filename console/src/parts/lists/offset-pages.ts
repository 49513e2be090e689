import type { LoadPage } from './pages.svelte.ts';

/** Rows of one page. */
const LIMIT = 50;

/** The requested part of a list, without the total. */
export interface Range {
  limit: number;
  offset: number;
  requestType: 'FETCH';
}

/** The pages of a list of the trace backend, for `Pages`. */
export function byOffset<Row>(
  load: (range: Range, signal: AbortSignal) => Promise<{ items?: Row[] | undefined }>,
): LoadPage<Row> {
  return async (after, signal) => {
    const offset = Number(after ?? 0);
    const { items: rows = [] } = await load({ limit: LIMIT, offset, requestType: 'FETCH' }, signal);
    return { rows, next: rows.length < LIMIT ? undefined : String(offset + LIMIT) };
  };
}
