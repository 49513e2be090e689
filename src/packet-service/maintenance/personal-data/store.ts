import sql from 'sql-template-tag';
import type { Database } from '../../../platform/database/database.ts';

/** Whether the packet service has its tables in this database. */
export async function hasTables(database: Database): Promise<boolean> {
  const { rows } = await database.query<{ there: boolean }>(
    sql`SELECT to_regclass('packet_log') IS NOT NULL AS there`,
  );
  return rows[0]?.there === true;
}
