import type { Database } from '../../../platform/database/database.ts';

/** Maximum messages of a thread that are looked at: the last ones. */
const LOOKED_AT = 100;

/** Position of the last message of a thread (uuid form) in the log; 0 without any. */
export async function findLastMessage(database: Database, threadId: string): Promise<number> {
  const { rows } = await database.query<{ position: string }>({
    name: 'log_last_message',
    text: `SELECT position FROM packet_log WHERE thread_id = $1 AND kind = 'chat.message'
      ORDER BY position DESC LIMIT 1`,
    values: [threadId],
  });
  return Number(rows[0]?.position ?? 0);
}

/** Messages of a thread (uuid form) after a position, in the order of the log; erased ones are among them. */
export async function findMessagesAfter(
  database: Database,
  threadId: string,
  { after, limit }: { after: number; limit: number },
): Promise<{ position: number; packetId: string }[]> {
  const { rows } = await database.query<{ position: string; packetId: string }>({
    text: `SELECT position, packet_id AS "packetId" FROM packet_log
      WHERE thread_id = $1 AND position > $2 AND kind = 'chat.message' ORDER BY position LIMIT $3`,
    values: [threadId, after, limit],
  });
  return rows.map(row => ({ ...row, position: Number(row.position) }));
}

/** The first position of some messages (uuid form) in the log; undefined while none of them is there. */
export async function findFirstPosition(
  database: Database,
  packetIds: readonly string[],
): Promise<number | undefined> {
  const { rows } = await database.query<{ position: string | null }>({
    name: 'log_first_position',
    text: `SELECT min(position) AS position FROM packet_log
      WHERE packet_id = ANY ($1::uuid[]) AND kind = 'chat.message'`,
    values: [packetIds],
  });
  return rows[0]?.position == null ? undefined : Number(rows[0].position);
}

/**
 * The threads that have messages by others than a user after a position, in the order of the argument. Erased messages
 * do not count. Of each thread, the last 100 messages are looked at.
 *
 * @param marks threads (uuid form) and the positions after which messages count
 */
export async function findUnread(
  database: Database,
  userId: string,
  marks: readonly { threadId: string; position: number }[],
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>({
    name: 'log_unread',
    text: `SELECT id FROM unnest($2::uuid[], $3::bigint[]) WITH ORDINALITY AS mark (id, read, place)
      WHERE EXISTS (SELECT FROM (
          SELECT packet_id, details FROM packet_log WHERE thread_id = id AND position > read AND kind = 'chat.message'
          ORDER BY position DESC LIMIT ${LOOKED_AT}
        ) AS message
        WHERE details->>'from_user' IS DISTINCT FROM $1 AND NOT EXISTS (
          SELECT FROM packet_log AS erasure WHERE erasure.packet_id = message.packet_id AND kind = 'erased'))
      ORDER BY place`,
    values: [userId, marks.map(({ threadId }) => threadId), marks.map(({ position }) => position)],
  });
  return rows.map(({ id }) => id);
}

/** Selects the users, of some, who have written one of the last 100 messages of some threads (uuid form). */
export async function findSenders(
  database: Database,
  threadIds: readonly string[],
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>({
    name: 'log_senders',
    text: `SELECT DISTINCT details->>'from_user' AS id
      FROM unnest($1::uuid[]) AS thread (id) CROSS JOIN LATERAL (
        SELECT details FROM packet_log WHERE thread_id = thread.id AND kind = 'chat.message'
        ORDER BY position DESC LIMIT ${LOOKED_AT}
      ) AS message
      WHERE details->>'from_user' = ANY ($2::text[])`,
    values: [threadIds, ids],
  });
  return rows.map(({ id }) => id);
}
