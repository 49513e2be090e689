import type { Database } from '../../../platform/postgres/database.ts';

/** Who takes part in threads now: user identifiers by thread (uuid form); threads of nobody are left out. */
export async function findParticipants(
  database: Database,
  threadIds: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await database.query<{ id: string; users: string[] }>({
    name: 'find_participants',
    text: `SELECT thread_id AS id, array_agg(user_id) AS users FROM chat_participants
      WHERE thread_id = ANY ($1::uuid[]) GROUP BY thread_id`,
    values: [threadIds],
  });
  return new Map(rows.map(({ id, users }) => [id, users]));
}
