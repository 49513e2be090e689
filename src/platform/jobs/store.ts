import sql, { raw } from 'sql-template-tag';
import type { Database } from '../postgres/database.ts';

/**
 * Deletes the jobs with a value in their data, in any state, including finished ones, which are kept for a while.
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
