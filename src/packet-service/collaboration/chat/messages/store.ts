import sql, { empty, raw } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import type { RowTable } from '../../../../platform/database/rows.ts';
import { int4Array } from './int4-array.ts';
import type { ChatMessage } from './message.ts';

/** A message in the order of lists. */
export interface MessageRow {
  /** uuid form */
  packetId: string;
  /** uuid form */
  threadId: string;
  text: string;
  geoid: string;
  sent: string | null;
  /** ISO 8601 in UTC with six decimals */
  utc: string;
}

/** The position of a message in that order. */
export interface MessagePosition {
  ts: string;
  /** uuid form */
  id: string;
}

/** Chat messages as the batch writer fills them, in the transaction of their packets. */
export const chatMessageTable: RowTable = {
  name: 'insert_chat_messages',
  insert: 'INSERT INTO chat_messages (thread_id, ts, packet_id, text, folded, geoid, geoids, sent, pieces)',
  width: 9,
};

export function chatMessageRow(message: ChatMessage): unknown[] {
  const { threadId, ts, packetId, text, folded, geoid, geoids, sent, ngrams } = message;
  return [
    threadId,
    ts,
    packetId,
    text === folded ? null : text,
    folded,
    geoid,
    geoids,
    sent,
    int4Array(ngrams),
  ];
}

/** The columns of a MessageRow. Sessions run in UTC. */
export const MESSAGE = raw(
  'packet_id AS "packetId", thread_id AS "threadId", coalesce(text, folded) AS text, geoid, sent, ' +
    `to_char(ts, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS utc`,
);

/** Deletes a message (ids in the uuid form, `ts` in full precision) for an erasure; returns its folded text. */
export async function takeMessage(
  database: Database,
  { threadId, ts, id }: { threadId: string | null; ts: string; id: string },
): Promise<{ folded: string } | undefined> {
  const { rows } = await database.query<{ folded: string }>(sql`
    DELETE FROM chat_messages
    WHERE thread_id = ${threadId} AND ts = ${ts}::timestamptz AND packet_id = ${id} RETURNING folded`);
  return rows[0];
}

/** Messages of a thread by (timestamp, id), after a position in that order. */
export async function listMessages(
  database: Database,
  threadId: string,
  { order, after, limit }: { order: 'asc' | 'desc'; after?: MessagePosition | undefined; limit: number },
): Promise<MessageRow[]> {
  const direction = raw(order === 'asc' ? 'ASC' : 'DESC');
  const beyond = raw(order === 'asc' ? '>' : '<');
  const { rows } = await database.query<MessageRow>(sql`
    SELECT ${MESSAGE} FROM chat_messages WHERE thread_id = ${threadId}
    ${after ? sql`AND (ts, packet_id) ${beyond} (${after.ts}::timestamptz, ${after.id}::uuid)` : empty}
    ORDER BY ts ${direction}, packet_id ${direction} LIMIT ${limit}`);
  return rows;
}
