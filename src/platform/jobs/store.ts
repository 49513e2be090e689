import sql, { raw } from 'sql-template-tag';
import type { Database } from '../postgres/database.ts';

/**
 * Deletes the jobs whose data names a value, in whatever state: those that are done are kept for a while, too.
 *
 * @param schema of the job queue
 * @param field of the jobs' data
 */
export async function forgetJobs(
  database: Database,
  schema: string,
  field: string,
  value: string,
): Promise<void> {
  await database.query(sql`
    DELETE FROM ${raw(`"${schema}"`)}.job WHERE data ->> ${field} = ${value}`);
}
