import sql, { empty } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import type { MessagePosition } from '../messages/store.ts';
import type { Participation } from './store.ts';

/** How far a user has read a thread. */
export interface ReadMark {
  /** uuid form */
  threadId: string;
  /** of the log; 0 before they have read anything */
  position: number;
}

interface Row {
  threadId: string;
  position: string | null;
}

const markOf = ({ threadId, position }: Row): ReadMark => ({ threadId, position: Number(position ?? 0) });

/**
 * How far a user has read the threads that they take part in, newest thread first, after one of them.
 *
 * @param openOnly only threads that were created without a token
 */
export async function listReadMarks(
  database: Database,
  { userId, openOnly }: { userId: string; openOnly: boolean },
  { after, limit }: { after: string | undefined; limit: number },
): Promise<ReadMark[]> {
  const { rows } = await database.query<Row>(sql`
    SELECT thread_id AS "threadId", read_position AS position
    FROM chat_participants ${openOnly ? sql`JOIN chat_threads USING (thread_id)` : empty}
    WHERE user_id = ${userId} ${after === undefined ? empty : sql`AND thread_id < ${after}`}
      ${openOnly ? sql`AND author IS NULL` : empty}
    ORDER BY thread_id DESC LIMIT ${limit}`);
  return rows.map(markOf);
}

/**
 * Moves a mark forward, never back.
 *
 * @returns where it is now; undefined for a user who does not take part
 */
export async function moveReadMark(
  database: Database,
  { threadId, userId }: Participation,
  position: number,
): Promise<ReadMark | undefined> {
  const { rows } = await database.query<Row>(sql`
    UPDATE chat_participants SET read_position = greatest(read_position, ${position}::bigint)
    WHERE thread_id = ${threadId} AND user_id = ${userId}
    RETURNING thread_id AS "threadId", read_position AS position`);
  return rows[0] && markOf(rows[0]);
}

/** Removes the marks of a user. */
export async function eraseReadMarks(database: Database, userId: string): Promise<void> {
  await database.query(sql`
    UPDATE chat_participants SET read_position = NULL WHERE user_id = ${userId} AND read_position IS NOT NULL`);
}

/**
 * The messages of a thread from one on, in the order of lists.
 *
 * @param from a message, itself included
 * @returns ids, uuid form
 */
export async function listIdsFrom(
  database: Database,
  threadId: string,
  from: MessagePosition,
  limit: number,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT packet_id AS id FROM chat_messages
    WHERE thread_id = ${threadId} AND (ts, packet_id) >= (${from.ts}::timestamptz, ${from.id}::uuid)
    ORDER BY ts, packet_id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}
