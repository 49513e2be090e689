import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Static } from 'typebox';
import { coalesce } from '../../platform/concurrency/coalesce.ts';
import { matchesTag } from '../../platform/http/etag.ts';
import { Problem } from '../../platform/http/problems.ts';
import { type Server, sendText } from '../../platform/http/server.ts';
import { parseRangeEnd } from '../../platform/time.ts';
import { checkReader, readableThreads } from '../access/visibility.ts';
import { checkFinalizedMessage } from '../chat/finalized.ts';
import { chatMessage } from '../chat/messages/message.ts';
import { wordKeeper } from '../chat/search/dictionary.ts';
import { threadCheck } from '../chat/threads/thread-check.ts';
import { earlierAnswer, readKey, sameRequest, sendAgain } from '../idempotency/idempotency.ts';
import { type HashedSections, hashedSections, readFinalizedPacket } from '../intake/finalized.ts';
import type { NewPacket } from '../intake/take.ts';
import { hashOf, MAX_PACKET_BYTES, spliceSections } from '../packet/packet.ts';
import { isUlid, ulidToUuid } from '../packet/ulid.ts';
import type { BatchWriter } from '../writer/batch-writer.ts';
import { parseBox, parseCircle } from './area.ts';
import { DEFAULT_LIMIT, idOf, MAX_LIMIT, pageAsGeoJson, pageAsJson } from './page.ts';
import {
  findPackets,
  findPlace,
  listPackets,
  listPlacedPackets,
  type PacketFilter,
  type Sections,
} from './read-store.ts';
import { getPacketSchema, listPacketsSchema, postPacketSchema, verifyPacketSchema } from './schemas.ts';
import { verifyPacket } from './verify.ts';

const GEOJSON_TYPE = 'application/geo+json; charset=utf-8';

/** Reading packets, and storing those that clients finalized themselves. */
export function registerPackets(app: Server, { pool, writer }: { pool: pg.Pool; writer: BatchWriter }): void {
  registerReading(app, pool);
  registerFinalized(app, pool, writer);
}

function registerReading(app: Server, pool: pg.Pool): void {
  // Many reads at once share one query; each still sees what had been committed when it came in.
  const findPacket = coalesce((ids: string[]) => findPackets(pool, ids), { max: 200 });

  async function getPacket({ user }: FastifyRequest, id: string): Promise<Sections> {
    const ulid = id.toUpperCase();
    const uuid = isUlid(ulid) ? ulidToUuid(ulid) : '';
    const packet = uuid === '' ? undefined : await findPacket(uuid);
    if (!packet) throw new Problem('not_found', `there is no packet ${id}`);
    await checkReader(pool, user, { id: uuid, threadId: packet.threadId });
    return packet;
  }

  app.get('/packets/:id', { schema: getPacketSchema }, async (request, reply) => {
    const sections = await getPacket(request, request.params.id);
    const tag = `"${hashOf(sections.footer)}"`;
    reply.header('etag', tag).header('cache-control', 'private, no-cache');
    if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send(null);
    return sendText(reply, spliceSections(sections));
  });

  app.get('/packets/:id/verify', { schema: verifyPacketSchema }, async request => {
    const { id } = request.params;
    await getPacket(request, id);
    return verifyPacket(pool, ulidToUuid(id.toUpperCase()));
  });

  app.get('/packets', { schema: listPacketsSchema }, async (request, reply) => {
    const { order = 'desc', cursor } = request.query;
    const limit = Math.min(request.query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    const after = cursor === undefined ? undefined : await placeOf(pool, cursor);
    // One packet more than asked for tells whether there is a next page.
    const threads = await readableThreads(pool, request.user);
    const filter = { ...readFilter(request.query), threads };
    const page = { order, after, limit: limit + 1 };
    reply.header('vary', 'accept');
    if (/application\/geo\+json/i.test(request.headers.accept ?? '')) {
      const { rows, next } = cutPage(await listPlacedPackets(pool, filter, page), limit);
      return sendText(reply, pageAsGeoJson(rows, next), GEOJSON_TYPE);
    }
    const { rows, next } = cutPage(await listPackets(pool, filter, page), limit);
    return sendText(reply, pageAsJson(rows, next));
  });
}

function registerFinalized(app: Server, pool: pg.Pool, writer: BatchWriter): void {
  const checkThread = threadCheck(pool);
  const keepWords = wordKeeper(pool);

  app.post('/packets', { schema: postPacketSchema, bodyLimit: MAX_PACKET_BYTES }, async (request, reply) => {
    const key = readKey(request);
    const earlier = await earlierAnswer(pool, key);
    if (earlier) return sendAgain(reply, earlier);

    const { id } = request.body.Header;
    const answer = { packet_uuid: id };
    const sections = hashedSections(request.body);
    const packet = await readPacket(request, sections).catch(async error => {
      const refused = error instanceof Problem && error.code === 'invalid';
      // What was stored when there were fewer rules is not refused for them when it is sent again.
      if (refused && (await isStored(id, sections))) return undefined;
      throw error;
    });
    if (!packet) return reply.code(200).send(answer);

    const claim = key && { ...key, status: 201, answer: JSON.stringify(answer) };
    const outcome = await writer.write({ ...packet, freshId: false, claim });
    if (outcome.kind === 'stored') return reply.code(201).send(answer);
    if (outcome.kind === 'key-exists' && key) return sendAgain(reply, sameRequest(key, outcome.answer));
    if (await isStored(id, sections)) return reply.code(200).send(answer);
    throw new Problem('conflict', `Header.id ${id} belongs to a packet with another hash`);
  });

  async function readPacket(request: FinalizedRequest, sections: HashedSections): Promise<NewPacket> {
    const { Header, Body } = request.body;
    const author = request.user;
    if (Header.type !== 'chat_message') {
      return { packet: readFinalizedPacket(request.body, sections, { threadId: null, author }) };
    }
    const threadId = await checkFinalizedMessage(checkThread, request, Body);
    const packet = readFinalizedPacket(request.body, sections, { threadId, author });
    const { text = '', from_user: sender = author } = Body as { text?: string; from_user?: string };
    const chat = chatMessage(packet, { text, timestamp: Header.timestamp, sender });
    await keepWords(chat);
    return { packet, chat };
  }

  /** Whether this very packet is stored. The texts are compared, which are what was hashed. */
  async function isStored(id: string, { header, body }: HashedSections): Promise<boolean> {
    const [stored] = await findPackets(pool, [ulidToUuid(id)]);
    return stored?.header === header && stored.body === body;
  }
}

type FinalizedRequest = FastifyRequest & { body: Static<typeof postPacketSchema.body> };

/** The rows of a page, and the id of its last one where more follow. */
function cutPage<Row extends Sections>(
  found: Row[],
  limit: number,
): { rows: Row[]; next: string | undefined } {
  if (found.length <= limit) return { rows: found, next: undefined };
  const rows = found.slice(0, limit);
  return { rows, next: idOf(rows.at(-1) as Row) };
}

/** @throws Problem invalid when the cursor is not the id of a packet */
async function placeOf(pool: pg.Pool, cursor: string) {
  const place = isUlid(cursor.toUpperCase())
    ? await findPlace(pool, ulidToUuid(cursor.toUpperCase()))
    : undefined;
  if (!place) throw new Problem('invalid', 'cursor must be the next_cursor of an earlier page');
  return place;
}

function readFilter(query: Static<typeof listPacketsSchema.querystring>): PacketFilter {
  const { geoid, type, bbox, near } = query;
  return {
    geoid,
    type,
    from: rangeEnd(query.from, 'from'),
    to: rangeEnd(query.to, 'to'),
    areas: [bbox === undefined ? [] : parseBox(bbox), near === undefined ? [] : parseCircle(near)].flat(),
  };
}

function rangeEnd(text: string | undefined, name: 'from' | 'to'): string | undefined {
  if (text === undefined) return undefined;
  const moment = parseRangeEnd(text, name);
  if (moment === undefined) throw new Problem('invalid', `${name} must be an ISO 8601 date-time or date`);
  return moment;
}
