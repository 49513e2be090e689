import type { Database } from '../../../platform/database/database.ts';

/** The ids (uuid form) of packets that have a GeoID, their own or an additional one: `limit` of them, in no order. */
export async function findIdsOfGeoid(database: Database, geoid: string, limit: number): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>({
    name: 'find_ids_of_geoid',
    text: `(SELECT id FROM packets WHERE geoid = $1 LIMIT $2)
      UNION ALL (SELECT packet_id AS id FROM packet_geoids WHERE geoid = $1 LIMIT $2) LIMIT $2`,
    values: [geoid, limit],
  });
  return rows.map(({ id }) => id);
}
