import { findOnEither } from '../../../platform/database/replicas/read-from.ts';
import { acceptWeight } from '../../../platform/http/accept.ts';
import { matchesTag } from '../../../platform/http/etag.ts';
import { linkNext } from '../../../platform/http/next-link.ts';
import { prefersPage, sendHtml, varyOf } from '../../../platform/http/page.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { type Server, sendText } from '../../../platform/http/server.ts';
import { sendPage } from '../../../platform/http/streamed-text.ts';
import type { Visibility } from '../access/visibility.ts';
import { positionOf } from '../contract/cursor.ts';
import { rangeEnd } from '../contract/range-end.ts';
import { hashOf, spliceSections } from '../packet-format/packet.ts';
import { ulidToUuid } from '../packet-format/ulid.ts';
import type { ChooseReads } from '../replicas/reads.ts';
import { countByHour } from './count-store.ts';
import { readFilter } from './filter.ts';
import { packetPage } from './packet-page.ts';
import { DEFAULT_LIMIT, idOf, MAX_LIMIT, type PageEnd, pageAsGeoJson, pageAsJson } from './page-body.ts';
import { largestOf } from './parts.ts';
import {
  findAuthors,
  findPagePosition,
  listLocatedPackets,
  listPackets,
  type PageRow,
} from './read-store.ts';
import type { PacketReader } from './reader.ts';
import { arrivalsSchema, COUNTED_PER_HOUR, getPacketSchema, listPacketsSchema } from './schemas.ts';

const DEFAULT_HOURS = 24;
const HOUR_MS = 3_600_000;
const GEOJSON_TYPE = 'application/geo+json; charset=utf-8';

/** Reading packets: one, and pages of them. */
export function registerPackets(
  app: Server,
  { reads, readPacket, visibility }: { reads: ChooseReads; readPacket: PacketReader; visibility: Visibility },
): void {
  app.get(
    '/packets/:id',
    { schema: getPacketSchema, config: { forPeople: true } },
    async (request, reply) => {
      const sections = await readPacket(request, request.params.id, { from: await reads(request) });
      // Only the page varies by Accept: what a cache has of the packet itself is revalidated by its hash.
      if (prefersPage(request.headers.accept)) {
        reply.header('vary', varyOf(reply)).header('cache-control', 'no-store');
        return sendHtml(reply, packetPage(sections));
      }
      const tag = `"${hashOf(sections.footer)}"`;
      reply.header('etag', tag).header('cache-control', 'private, no-cache');
      if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send(null);
      return sendText(reply, spliceSections(sections));
    },
  );

  app.get('/packets/arrivals', { schema: arrivalsSchema }, async request => {
    const { hours = DEFAULT_HOURS } = request.query;
    const from = new Date(rangeEnd(request.query.from, 'from') as string);
    // Ids begin with the milliseconds since then.
    if (from.getTime() < 0) throw new Problem('packet.arrivals_before_1970', { field: 'from' });
    const threads = await visibility.readableThreads(request);
    const { database } = await reads(request);
    const counts = await countByHour(database, { from, hours, limit: COUNTED_PER_HOUR, threads });
    const began = (n: number) => new Date(from.getTime() + n * HOUR_MS).toISOString();
    return { hours: counts.map((count, n) => ({ from: began(n), count })), limit: COUNTED_PER_HOUR };
  });

  app.get('/packets', { schema: listPacketsSchema }, async (request, reply) => {
    const { order = 'desc', authors = 'false', cursor } = request.query;
    const limit = Math.min(request.query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    const from = await reads(request);
    const { database } = from;
    const after = await positionOf(cursor, id => findOnEither(from, on => findPagePosition(on, id)));
    // One extra packet shows whether there is a next page.
    const threads = await visibility.readableThreads(request);
    const filter = { ...readFilter(request.query), threads };
    const page = { order, after, limit: limit + 1, largest: largestOf(limit + 1) };
    const endOf = async (rows: PageRow[], nextCursor: string | undefined): Promise<PageEnd> => {
      if (nextCursor !== undefined) linkNext(reply, nextCursor);
      if (authors !== 'true') return { nextCursor };
      return {
        nextCursor,
        authors: await findAuthors(
          database,
          rows.map(row => ulidToUuid(idOf(row))),
        ),
      };
    };
    reply.header('vary', 'accept');
    const { accept } = request.headers;
    if (accept !== undefined && acceptWeight(accept, 'application/geo+json', 'named')) {
      const { rows, next } = cutPage(await listLocatedPackets(database, filter, page), limit);
      return sendPage(reply, pageAsGeoJson(database, rows, await endOf(rows, next)), GEOJSON_TYPE);
    }
    const { rows, next } = cutPage(await listPackets(database, filter, page), limit);
    return sendPage(reply, pageAsJson(database, rows, await endOf(rows, next)));
  });
}

/** The rows of a page, and the id of the last one if more follow. */
function cutPage<Row extends PageRow>(read: Row[], limit: number): { rows: Row[]; next: string | undefined } {
  if (read.length <= limit) return { rows: read, next: undefined };
  const rows = read.slice(0, limit);
  return { rows, next: idOf(rows.at(-1) as Row) };
}
