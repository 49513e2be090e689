import type { Database } from '../../../../platform/database/database.ts';

/**
 * The author of a thread that an operator has closed: unknown, and no user's. A thread with an author is closed to
 * requests without a token.
 */
const UNKNOWN = '';

/** The open threads (uuid form) that were begun before a time: `limit` of them, in no order. */
export async function findOpenThreads(database: Database, before: Date, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>({
    text: 'SELECT thread_id AS id FROM chat_threads WHERE author IS NULL AND created_at < $1 LIMIT $2',
    values: [before, limit],
  });
  return rows.map(({ id }) => id);
}

/** Closes a thread (uuid form) to requests without a token. */
export async function closeThread(database: Database, threadId: string): Promise<void> {
  await database.query({
    text: 'UPDATE chat_threads SET author = $2 WHERE thread_id = $1 AND author IS NULL',
    values: [threadId, UNKNOWN],
  });
}
