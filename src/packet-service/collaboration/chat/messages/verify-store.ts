import sql, { empty } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import { MESSAGE } from './store.ts';

/** Columns of a message that repeat its packet. */
export interface MessageCopy {
  /** uuid form */
  packetId: string;
  text: string;
  geoid: string;
  geoids: string[];
  sent: string | null;
  /** ISO 8601 in UTC with six decimals */
  utc: string;
}

/** The primary key of a message: ids in the uuid form, `ts` as PostgreSQL reads it. */
export interface MessageKey {
  threadId: string;
  ts: string;
  packetId: string;
}

/** The rows of messages, in no order; without those that are not there. */
export async function findMessages(database: Database, keys: readonly MessageKey[]): Promise<MessageCopy[]> {
  const { rows } = await database.query<MessageCopy>(sql`
    SELECT ${MESSAGE}, coalesce(geoids, '{}') AS geoids
    FROM unnest(
      ${keys.map(({ threadId }) => threadId)}::uuid[],
      ${keys.map(({ ts }) => ts)}::timestamptz[],
      ${keys.map(({ packetId }) => packetId)}::uuid[]
    ) AS key (thread, moment, packet)
    JOIN chat_messages ON thread_id = thread AND ts = moment AND packet_id = packet`);
  return rows;
}

/** The keys of messages in their order, after the last one of the batch before. */
export async function listKeys(
  database: Database,
  after: MessageKey | undefined,
  limit: number,
): Promise<MessageKey[]> {
  const beyond = after
    ? sql`WHERE (thread_id, ts, packet_id) > (${after.threadId}::uuid, ${after.ts}::timestamptz, ${after.packetId}::uuid)`
    : empty;
  const { rows } = await database.query<MessageKey>(sql`
    SELECT thread_id AS "threadId", ts::text, packet_id AS "packetId" FROM chat_messages ${beyond}
    ORDER BY thread_id, ts, packet_id LIMIT ${limit}`);
  return rows;
}
