import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { JSON_TYPE, sendText } from './server.ts';

/** Characters of an answer that are sent as one text; a longer one is streamed. */
const WHOLE = 64 * 1024;
/**
 * Bytes that a streamed answer holds, at most: the rows of its page, and two parts that wait, one in the stream and one
 * in the response (docs/decisions/slow-clients.md).
 */
const HELD = 2 * 1024 * 1024;

/**
 * Sends an answer that comes in parts as the client takes it: neither a long answer nor a slow client costs more memory
 * than a part or two. An error before the first bytes is answered as such; a later one breaks the connection, so that
 * half an answer never looks like a whole one.
 */
export async function sendParts(
  reply: FastifyReply,
  parts: AsyncGenerator<string>,
  type: string = JSON_TYPE,
): Promise<FastifyReply> {
  let start = '';
  while (start.length < WHOLE) {
    const { done, value } = await parts.next();
    if (done) return sendText(reply, start, type);
    start += value;
  }
  try {
    reply.holdAnswer(HELD);
  } catch (error) {
    await parts.return(undefined);
    throw error;
  }
  const stream = Readable.from(parts, { objectMode: false });
  // A generator that yielded it first would keep it as long as the client reads.
  stream.unshift(start);
  return reply.type(type).send(stream);
}

/** Sends an answer that is one text, or comes in parts because it is long. */
export function sendPage(
  reply: FastifyReply,
  page: string | AsyncGenerator<string>,
  type?: string,
): FastifyReply | Promise<FastifyReply> {
  return typeof page === 'string' ? sendText(reply, page, type) : sendParts(reply, page, type);
}

/** Bytes that are read and sent together from an answer that comes in parts, about; one item may be more. */
const PART_BYTES = 256 * 1024;

/** Cuts items that are still to be read into parts of about 256 KiB. */
export function* cutByBytes<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number,
): Generator<Item[]> {
  let part: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = bytesOf(item);
    if (part.length > 0 && bytes + size > PART_BYTES) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(item);
    bytes += size;
  }
  if (part.length > 0) yield part;
}
