import type { FastifyReply } from 'fastify';
import { listAnswer, type Page, pageOf } from '../contract/schemas.ts';
import { versionTag } from '../contract/versions.ts';

/** Sets the version of a record as the answer's ETag, for If-Match. Only private caches keep it, and revalidate it. */
export function tagVersion<Reply extends FastifyReply>(reply: Reply, version: number | string): Reply {
  return reply.header('etag', versionTag(version)).header('cache-control', 'private, no-cache') as Reply;
}

/**
 * The answer to the query of a list: a page with the requested halves.
 *
 * @param sortable fields that it can be sorted by, the default first
 * @param find reads the rows of the page and their total number
 * @param show turns rows into items
 */
export async function listPage<Sort extends string, Row, Item>(
  query: Parameters<typeof pageOf>[0],
  sortable: readonly [Sort, ...Sort[]],
  find: (page: Page<Sort>) => Promise<{ items: Row[]; count: number }>,
  show: (rows: Row[]) => Item[] | Promise<Item[]>,
): Promise<ReturnType<typeof listAnswer<Item>>> {
  const page = pageOf(query, sortable);
  const { items, count } = await find(page);
  return listAnswer(page, { items: await show(items), count });
}
