import type { Database } from '../../../platform/database/database.ts';

/** Which of these packets (uuid form) can be read, whether they are erased, and their times in full precision. */
export async function findVisible(
  database: Database,
  packetIds: readonly string[],
): Promise<Map<string, { erased: boolean; ts: string }>> {
  const { rows } = await database.query<{ id: string; erased: boolean; ts: string }>({
    name: 'find_visible',
    text: 'SELECT id, erased_at IS NOT NULL AS erased, ts::text FROM packets WHERE id = ANY ($1::uuid[])',
    values: [packetIds],
  });
  return new Map(rows.map(({ id, ...state }) => [id, state]));
}
