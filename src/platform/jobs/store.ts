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

/** How many jobs a queue has. */
export interface QueueCount {
  queue: string;
  /** not begun, including those that wait for another attempt */
  waiting: number;
  active: number;
}

/**
 * The jobs of each queue, as the job queue counted them last: it does so every 15 seconds while a process works on it.
 *
 * @param schema of the job queue
 */
export async function countJobs(database: Database, schema: string): Promise<QueueCount[]> {
  const { rows } = await database.query<QueueCount>(sql`
    SELECT name AS queue, queued_count AS waiting, active_count AS active
    FROM ${raw(`"${schema}"`)}.queue WHERE name NOT LIKE '\\_\\_pgboss%' ORDER BY name LIMIT 100`);
  return rows;
}
