import sql, { raw } from 'sql-template-tag';
import type { Database } from '../postgres/database.ts';

/**
 * Forgets the jobs whose data names one of these values, whatever became of them: those that are done are kept for a
 * while, too.
 *
 * @param schema of the job queue
 * @param field of the jobs' data
 */
export async function forgetJobs(
  database: Database,
  schema: string,
  field: string,
  values: readonly string[],
): Promise<void> {
  await database.query(sql`
    DELETE FROM ${raw(`"${schema}"`)}.job WHERE data ->> ${field} = ANY (${values}::text[])`);
}
