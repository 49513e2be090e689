import type { Database } from '../../../../platform/database/database.ts';

/** The participants of a thread. */
interface Participants {
  users: string[];
  /** whether the thread was created with a token */
  closed: boolean;
}

/** The current participants by thread (uuid form); threads without participants are left out. */
export async function findParticipants(
  database: Database,
  threadIds: readonly string[],
): Promise<Map<string, Participants>> {
  const { rows } = await database.query<Participants & { id: string }>({
    name: 'find_participants',
    text: `SELECT thread_id AS id, array_agg(user_id) AS users, bool_or(author IS NOT NULL) AS closed
      FROM chat_participants JOIN chat_threads USING (thread_id)
      WHERE thread_id = ANY ($1::uuid[]) GROUP BY thread_id`,
    values: [threadIds],
  });
  return new Map(rows.map(({ id, ...audience }) => [id, audience]));
}
