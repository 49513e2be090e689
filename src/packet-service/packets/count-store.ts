import sql from 'sql-template-tag';
import type { Database } from '../../platform/postgres/database.ts';
import { firstUuidAt } from '../packet/ulid.ts';

/** How many packets were made since a time, by the time in their ids; counts no further than `limit`. */
export async function countPacketsSince(database: Database, since: Date, limit: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count
    FROM (SELECT FROM packets WHERE id >= ${firstUuidAt(since)}::uuid LIMIT ${limit}) AS recent`);
  return rows[0]?.count ?? 0;
}
