import type { FastifyReply } from 'fastify';
import { linkNext } from '../../../platform/http/next-link.ts';
import { sendText } from '../../../platform/http/server.ts';
import { sendParts } from '../../../platform/http/streamed-text.ts';
import { uuidToUlid } from '../../core/packet-format/ulid.ts';
import type { MessageDetails } from '../../core/packets/read-store.ts';
import { displayed } from './messages/message.ts';
import type { MessageRow } from './messages/store.ts';
import type { Named } from './names.ts';
import type { Thread, ThreadParticipant } from './threads/store.ts';

/** Maximum items per page. */
export const MAX_PAGE = 1000;
/** Maximum rows fetched at once: the memory that a stalled client holds. */
const BATCH = 500;

/** An item of a list: its text, and the cursor of the page after it. */
export interface Item {
  json: string;
  cursor: string;
}

/** A message as an item; a search result also names its thread. */
export function messageItem(row: MessageRow, withThread: boolean): Item {
  const id = uuidToUlid(row.packetId);
  const thread = withThread ? `"thread_id":"${uuidToUlid(row.threadId)}",` : '';
  const timestamp = row.sent ?? displayed(row.utc);
  return {
    cursor: id,
    json:
      `{"packet_id":"${id}","text":${JSON.stringify(row.text)},${thread}"timestamp":"${timestamp}",` +
      `"geoid":${JSON.stringify(row.geoid)}}`,
  };
}

/** A message with its details. */
export interface DetailedMessage extends MessageRow {
  details: MessageDetails | undefined;
}

/** A message with its details as an item. */
export function detailedItem({ details, userName, ...row }: DetailedMessage & Named): Item {
  const { cursor, json } = messageItem(row, false);
  const { sender = null, attachments = null } = details ?? {};
  const more =
    (sender === null ? '' : `,"from_user":${JSON.stringify(sender)}`) +
    (userName === undefined ? '' : `,"from_name":${JSON.stringify(userName)}`) +
    (attachments === null ? '' : `,"attachments":${attachments}`);
  return { cursor, json: `${json.slice(0, -1)}${more}}` };
}

/** A thread as an item. */
export function threadItem(thread: Thread & Named): Item {
  const object = threadObject(thread);
  return { cursor: object.thread_id, json: JSON.stringify(object) };
}

/** A participant as an item. */
export function participantItem({ userId, addedAt }: ThreadParticipant): Item {
  return { cursor: userId, json: JSON.stringify({ user_id: userId, added_at: addedAt.toISOString() }) };
}

/** A thread as answers contain it. */
export function threadObject({ threadId, name, createdBy, createdAt, userName }: Thread & Named) {
  return {
    thread_id: uuidToUlid(threadId),
    name,
    created_by: createdBy,
    created_at: createdAt.toISOString(),
    ...(userName !== undefined && { created_by_name: userName }),
  };
}

/**
 * Sends a list: a page of it when the client asked for one, otherwise all of it.
 *
 * @param limit items a page, as the client asked
 * @param source yields the rows in order, up to a number
 */
export function sendList<Row>(
  reply: FastifyReply,
  name: string,
  limit: number | undefined,
  source: (wanted: number) => AsyncGenerator<Row[]>,
  item: (row: Row) => Item,
): Promise<FastifyReply> {
  if (limit === undefined) return sendParts(reply, asTexts(name, source(Infinity), item));
  const size = Math.min(limit, MAX_PAGE);
  // One extra item shows whether there is a next page.
  return sendPage(reply, name, source(size + 1), size, item);
}

/**
 * The rows of a list, fetched batch by batch, each after the last row of the previous one: rows added meanwhile shift
 * nothing, and no connection is held while a slow client reads.
 */
export async function* inBatches<Row, At>(
  wanted: number,
  start: At | undefined,
  cursorOf: (row: Row) => At,
  fetch: (after: At | undefined, limit: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let after = start;
  for (let left = wanted; left > 0; ) {
    const limit = Math.min(left, BATCH);
    const rows = await fetch(after, limit);
    yield rows;
    if (rows.length < limit) return;
    left -= limit;
    after = cursorOf(rows.at(-1) as Row);
  }
}

async function sendPage<Row>(
  reply: FastifyReply,
  name: string,
  batches: AsyncGenerator<Row[]>,
  size: number,
  item: (row: Row) => Item,
): Promise<FastifyReply> {
  const items: Item[] = [];
  for await (const batch of batches) for (const row of batch) items.push(item(row));
  const page = items.slice(0, size);
  const cursor = items.length > size ? page.at(-1)?.cursor : undefined;
  // The next page of a POST is another body, to which no link leads.
  if (cursor !== undefined && reply.request.method === 'GET') linkNext(reply, cursor);
  const next = cursor === undefined ? '' : `,"next_cursor":${JSON.stringify(cursor)}`;
  return sendText(reply, `{"${name}":[${page.map(({ json }) => json).join(',')}]${next}}`);
}

async function* asTexts<Row>(
  name: string,
  batches: AsyncGenerator<Row[]>,
  item: (row: Row) => Item,
): AsyncGenerator<string> {
  let before = `{"${name}":[`;
  for await (const batch of batches) {
    if (batch.length === 0) continue;
    yield before + batch.map(row => item(row).json).join(',');
    before = ',';
  }
  yield `${before === ',' ? '' : before}]}`;
}
