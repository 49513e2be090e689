import type { Database } from '../../platform/postgres/database.ts';

/** Which of these packets (uuid form) can be read, and whether they are erased. */
export async function findVisible(
  database: Database,
  packetIds: readonly string[],
): Promise<Map<string, { erased: boolean }>> {
  const { rows } = await database.query<{ id: string; erased: boolean }>({
    name: 'find_visible',
    text: 'SELECT id, erased_at IS NOT NULL AS erased FROM packets WHERE id = ANY ($1::uuid[])',
    values: [packetIds],
  });
  return new Map(rows.map(({ id, erased }) => [id, { erased }]));
}
