import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** Counts a request about a label on a day, which is YYYY-MM-DD in UTC. */
export async function countRequest(
  database: Database,
  { labelId, type, day }: { labelId: number; type: string; day: string },
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO label_requests AS counts (label_id, type, day, count) VALUES (${labelId}, ${type}, ${day}, 1)
    ON CONFLICT (label_id, type, day) DO UPDATE SET count = counts.count + 1`,
  );
}
