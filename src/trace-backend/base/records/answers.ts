import type { FastifyReply } from 'fastify';
import { listAnswer, type Page, pageOf } from '../contract/schemas.ts';
import { versionTag } from '../contract/versions.ts';

/** Gives an answer the version of its record as ETag, for If-Match; it is kept by its reader alone, and checked each time. */
export function tagVersion<Reply extends FastifyReply>(reply: Reply, version: number | string): Reply {
  return reply.header('etag', versionTag(version)).header('cache-control', 'private, no-cache') as Reply;
}

/**
 * A page of a list as its query asks for it, with the requested halves.
 *
 * @param sortable fields that it can be sorted by, the default first
 * @param find reads the rows of the page, and how many there are in all
 * @param show makes items of them
 */
export async function listed<Sort extends string, Row, Item>(
  query: Parameters<typeof pageOf>[0],
  sortable: readonly [Sort, ...Sort[]],
  find: (page: Page<Sort>) => Promise<{ items: Row[]; count: number }>,
  show: (rows: Row[]) => Item[] | Promise<Item[]>,
): Promise<ReturnType<typeof listAnswer<Item>>> {
  const page = pageOf(query, sortable);
  const { items, count } = await find(page);
  return listAnswer(page, { items: await show(items), count });
}
