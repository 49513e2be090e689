import sql, { empty, raw } from 'sql-template-tag';
import type { Database } from '../../../platform/postgres/database.ts';

export interface Thread {
  /** uuid form */
  threadId: string;
  name: string;
  createdBy: string;
  createdAt: Date;
  /** the user of the token that it was made with */
  author: string | null;
}

/** How a user, or nobody in particular, stands to a thread. */
export type Standing = 'no-thread' | 'outsider' | 'participant';

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

const THREAD = raw(
  'thread_id AS "threadId", name, created_by AS "createdBy", created_at AS "createdAt", author',
);

/** Adds users to a thread; those who take part already are passed over. Returns how many are new. */
export async function addParticipants(
  database: Database,
  threadId: string,
  userIds: readonly string[],
  now: Date,
): Promise<number> {
  const sorted = [...new Set(userIds)].sort();
  const { rowCount } = await database.query(sql`
    INSERT INTO chat_participants (thread_id, user_id, added_at)
    SELECT ${threadId}::uuid, user_id, ${now}::timestamptz FROM unnest(${sorted}::text[]) AS added (user_id)
    ON CONFLICT DO NOTHING`);
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

/**
 * How users stand to threads, in the order asked. Without a user a thread that exists is answered `outsider`. Whoever
 * takes part in a thread is in one that exists, so only the other threads are looked for: a second query by key rather
 * than an outer join, which distributed tables do not take.
 */
export async function findStandings(database: Database, asked: readonly Asked[]): Promise<Standing[]> {
  const withUser = asked.filter(({ userId }) => userId !== undefined);
  const participants = withUser.length === 0 ? [] : await findTaking(database, withUser);
  const taking = new Set(participants.map(({ id, user }) => `${id} ${user}`));
  const others = asked.filter(({ threadId, userId }) => !taking.has(`${threadId} ${userId}`));
  const known = new Set(others.length === 0 ? [] : await findExisting(database, others));
  return asked.map(({ threadId, userId }) => {
    if (taking.has(`${threadId} ${userId}`)) return 'participant';
    return known.has(threadId) ? 'outsider' : 'no-thread';
  });
}

interface Asked {
  threadId: string;
  userId?: string | undefined;
}

async function findTaking(
  database: Database,
  asked: readonly Asked[],
): Promise<{ id: string; user: string }[]> {
  const { rows } = await database.query<{ id: string; user: string }>({
    name: 'find_taking',
    text: `SELECT thread_id AS id, user_id AS "user" FROM chat_participants
      WHERE thread_id = ANY ($1::uuid[]) AND user_id = ANY ($2::text[])`,
    values: [distinct(asked.map(({ threadId }) => threadId)), distinct(asked.map(({ userId }) => userId))],
  });
  return rows;
}

async function findExisting(database: Database, asked: readonly Asked[]): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>({
    name: 'find_existing_threads',
    text: 'SELECT thread_id AS id FROM chat_threads WHERE thread_id = ANY ($1::uuid[])',
    values: [distinct(asked.map(({ threadId }) => threadId))],
  });
  return rows.map(({ id }) => id);
}

function distinct<Value>(values: Value[]): Value[] {
  return [...new Set(values)];
}

/** The threads that a user takes part in, newest first, after one of them. */
export async function listThreads(
  database: Database,
  userId: string,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<Thread[]> {
  const { rows } = await database.query<Thread>(sql`
    SELECT ${THREAD} FROM chat_participants JOIN chat_threads USING (thread_id)
    WHERE user_id = ${userId} ${after === undefined ? empty : sql`AND thread_id < ${after}`}
    ORDER BY thread_id DESC LIMIT ${limit}`);
  return rows;
}

/** The threads that a user takes part in, uuid form. */
export async function findThreadIds(database: Database, userId: string): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    sql`SELECT thread_id AS id FROM chat_participants WHERE user_id = ${userId}`,
  );
  return rows.map(({ id }) => id);
}
