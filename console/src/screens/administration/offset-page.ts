/** Rows of a list of the trace backend that are loaded at once. */
export const LIMIT = 50;

/** The query of a page of a list that counts from its beginning; without a total, which costs more than the page. */
export function offsetQuery(after: string | undefined) {
  return { requestType: 'FETCH' as const, limit: LIMIT, offset: Number(after ?? 0) };
}

/** A page of such a list: one that is not full is the last. */
export function offsetPage<Row>(
  items: Row[] | undefined,
  after: string | undefined,
): { rows: Row[]; next: string | undefined } {
  const rows = items ?? [];
  const end = Number(after ?? 0) + rows.length;
  return { rows, next: rows.length < LIMIT ? undefined : String(end) };
}
