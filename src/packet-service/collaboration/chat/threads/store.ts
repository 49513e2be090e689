import sql, { bulk, empty, raw } from 'sql-template-tag';
import type { Database } from '../../../../platform/database/database.ts';
import { isTokenUserSql } from '../../../core/access/store.ts';

export interface Thread {
  /** uuid form */
  threadId: string;
  name: string;
  createdBy: string;
  createdAt: Date;
  /** the user of the token that it was created with */
  author: string | null;
}

export async function insertThread(database: Database, thread: Thread): Promise<void> {
  const { threadId, name, createdBy, createdAt, author } = thread;
  await database.query(sql`
    INSERT INTO chat_threads (thread_id, name, created_by, created_at, author)
    VALUES (${threadId}, ${name}, ${createdBy}, ${createdAt}, ${author})`);
}

export async function renameThread(
  database: Database,
  threadId: string,
  name: string,
): Promise<Thread | undefined> {
  const { rows } = await database.query<Thread>(sql`
    UPDATE chat_threads SET name = ${name} WHERE thread_id = ${threadId} RETURNING ${THREAD}`);
  return rows[0];
}

/** A thread by its id (uuid form). */
export async function findThread(database: Database, threadId: string): Promise<Thread | undefined> {
  const { rows } = await database.query<Thread>(
    sql`SELECT ${THREAD} FROM chat_threads WHERE thread_id = ${threadId}`,
  );
  return rows[0];
}

const THREAD = raw(
  'thread_id AS "threadId", name, created_by AS "createdBy", created_at AS "createdAt", author',
);

/** Adds users to a thread; existing participants are ignored. Returns how many were added. */
export async function addParticipants(
  database: Database,
  threadId: string,
  userIds: readonly string[],
  now: Date,
): Promise<number> {
  const sorted = [...new Set(userIds)].sort();
  if (sorted.length === 0) return 0;
  const { rowCount } = await database.query(sql`
    INSERT INTO chat_participants (thread_id, user_id, added_at)
    VALUES ${bulk(sorted.map(userId => [threadId, userId, now]))} ON CONFLICT DO NOTHING`);
  return rowCount ?? 0;
}

/** Returns whether the user took part. */
export async function removeParticipant(
  database: Database,
  threadId: string,
  userId: string,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    DELETE FROM chat_participants WHERE thread_id = ${threadId} AND user_id = ${userId}`);
  return rowCount === 1;
}

export interface ThreadParticipant {
  userId: string;
  addedAt: Date;
}

/** The participants of a thread (uuid form) in the order of their ids, after one of them. */
export async function listParticipants(
  database: Database,
  threadId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<ThreadParticipant[]> {
  const { rows } = await database.query<ThreadParticipant>(sql`
    SELECT user_id AS "userId", added_at AS "addedAt" FROM chat_participants
    WHERE thread_id = ${threadId} ${after === undefined ? empty : sql`AND user_id > ${after}`}
    ORDER BY user_id LIMIT ${limit}`);
  return rows;
}

/** A user and a thread (uuid form) that they may take part in. */
export interface Participation {
  threadId: string;
  userId: string;
}

/** A user who takes part in a thread. */
export interface Participant {
  /** whether the user has ever sent a valid token */
  isTokenUser: boolean;
}

/** The users who take part in threads, in the order of the arguments; undefined for those who do not. */
export async function findParticipation(
  database: Database,
  participations: readonly Participation[],
): Promise<(Participant | undefined)[]> {
  const { rows } = await database.query<Participant & { id: string; user: string }>({
    name: 'find_participation',
    // OFFSET 0 is for distributed tables: a statement that reads shards cannot read other tables as well.
    text: `SELECT part.*, ${isTokenUserSql('part."user"')} AS "isTokenUser" FROM (
        SELECT thread_id AS id, user_id AS "user" FROM chat_participants
        WHERE thread_id = ANY ($1::uuid[]) AND user_id = ANY ($2::text[]) OFFSET 0) AS part`,
    values: [
      distinct(participations.map(({ threadId }) => threadId)),
      distinct(participations.map(({ userId }) => userId)),
    ],
  });
  const participants = new Map(rows.map(row => [`${row.id} ${row.user}`, row]));
  return participations.map(({ threadId, userId }) => participants.get(`${threadId} ${userId}`));
}

/** Whether a user takes part in a thread (uuid form). */
export async function isParticipant(database: Database, threadId: string, userId: string): Promise<boolean> {
  const [participant] = await findParticipation(database, [{ threadId, userId }]);
  return participant !== undefined;
}

/**
 * Threads by id (uuid form): whether they were created with a token, in the order of the ids; undefined for missing
 * ones.
 */
export async function findClosed(
  database: Database,
  threadIds: readonly string[],
): Promise<(boolean | undefined)[]> {
  const { rows } = await database.query<{ id: string; closed: boolean }>({
    name: 'find_closed_threads',
    text: `SELECT thread_id AS id, author IS NOT NULL AS closed FROM chat_threads
      WHERE thread_id = ANY ($1::uuid[])`,
    values: [threadIds],
  });
  const closedById = new Map(rows.map(({ id, closed }) => [id, closed]));
  return threadIds.map(id => closedById.get(id));
}

function distinct<Value>(values: Value[]): Value[] {
  return [...new Set(values)];
}

/**
 * The threads that a user takes part in, newest first, after one of them.
 *
 * @param openOnly only those that were created without a token
 */
export async function listThreads(
  database: Database,
  { userId, openOnly }: { userId: string; openOnly: boolean },
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Thread[]> {
  const { rows } = await database.query<Thread>(sql`
    SELECT ${THREAD} FROM chat_participants JOIN chat_threads USING (thread_id)
    WHERE user_id = ${userId} ${after === undefined ? empty : sql`AND thread_id < ${after}`}
      ${openOnly ? sql`AND author IS NULL` : empty}
    ORDER BY thread_id DESC LIMIT ${limit}`);
  return rows;
}

/**
 * The threads that a user takes part in, uuid form.
 *
 * @param openOnly only those that were created without a token
 */
export async function findThreadIds(
  database: Database,
  userId: string,
  { openOnly }: { openOnly: boolean },
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    openOnly
      ? sql`SELECT thread_id AS id FROM chat_participants JOIN chat_threads USING (thread_id)
          WHERE user_id = ${userId} AND author IS NULL`
      : sql`SELECT thread_id AS id FROM chat_participants WHERE user_id = ${userId}`,
  );
  return rows.map(({ id }) => id);
}

/** Selects the users, of some, who have opened a thread of a user with a token. */
export async function findOpeners(
  database: Database,
  userId: string,
  ids: readonly string[],
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT DISTINCT created_by AS id FROM chat_participants JOIN chat_threads USING (thread_id)
    WHERE user_id = ${userId} AND created_by = ANY (${ids}::text[]) AND author = created_by`);
  return rows.map(({ id }) => id);
}

/** The newest threads (uuid form) with a token that a user takes part in. */
export async function findNewestThreads(
  database: Database,
  userId: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(sql`
    SELECT thread_id AS id FROM chat_participants JOIN chat_threads USING (thread_id)
    WHERE user_id = ${userId} AND author IS NOT NULL ORDER BY thread_id DESC LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}
