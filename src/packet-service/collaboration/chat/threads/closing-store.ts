import type { Database } from '../../../../platform/database/database.ts';

/**
 * The author of a thread that an operator has closed: unknown, and no user's. A thread with an author is closed to
 * requests without a token.
 */
const UNKNOWN = '';

/**
 * The threads (uuid form) that were begun before a time and that are open, or that an operator has closed, by id: `limit`
 * of them after one. Those that are closed may have open messages of services that remembered them as open.
 */
export async function findClosable(
  database: Database,
  before: Date,
  { after, limit }: { after: string | undefined; limit: number },
): Promise<{ id: string; isOpen: boolean }[]> {
  const { rows } = await database.query<{ id: string; isOpen: boolean }>({
    text: `SELECT thread_id AS id, author IS NULL AS "isOpen" FROM chat_threads
      WHERE (author IS NULL OR author = $4) AND created_at < $1 AND ($2::uuid IS NULL OR thread_id > $2)
      ORDER BY thread_id LIMIT $3`,
    values: [before, after, limit, UNKNOWN],
  });
  return rows;
}

/** Closes a thread (uuid form) to requests without a token. */
export async function closeThread(database: Database, threadId: string): Promise<void> {
  await database.query({
    text: 'UPDATE chat_threads SET author = $2 WHERE thread_id = $1 AND author IS NULL',
    values: [threadId, UNKNOWN],
  });
}
