import { expect, test } from 'vitest';
import { byId, LIMIT } from './keyset-pages.ts';

test('a full page is continued after its last row, and one that is not full is the last', async () => {
  const ranges: object[] = [];
  const ids = Array.from({ length: LIMIT + 1 }, (_, index) => ({ id: 100 - index }));
  const load = byId(async range => {
    ranges.push(range);
    return { items: ids.filter(({ id }) => id < Number(range.after ?? Number.MAX_VALUE)).slice(0, LIMIT) };
  });
  const signal = new AbortController().signal;
  const first = await load(undefined, signal);
  expect(first).toEqual({ rows: ids.slice(0, LIMIT), next: '51' });
  expect(await load(first.next, signal)).toEqual({ rows: ids.slice(LIMIT), next: undefined });
  expect(ranges).toEqual([
    { limit: LIMIT, requestType: 'FETCH' },
    { limit: LIMIT, requestType: 'FETCH', after: '51' },
  ]);
  expect(await byId(async () => ({}))(undefined, signal)).toEqual({ rows: [], next: undefined });
});
