import sql, { raw } from 'sql-template-tag';
import type { Database } from '../database/database.ts';
import type { QueueCount } from './schemas.ts';

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

/** Whether a job is in progress, which may be of a killed process, or is to be deleted, or the counts are to be updated. */
export async function needsSupervision(database: Database, schema: string): Promise<boolean> {
  const { rows } = await database.query<{ needs: boolean }>(sql`
    SELECT EXISTS (
      SELECT FROM ${raw(`"${schema}"`)}.job WHERE state = 'active'
      OR (deletion_seconds > 0 AND completed_on + deletion_seconds * interval '1 s' < now())
      OR (state < 'active' AND keep_until < now())
    ) OR EXISTS (SELECT FROM ${raw(`"${schema}"`)}.queue WHERE queued_count > 0 OR active_count > 0) AS needs`);
  return rows[0]?.needs ?? true;
}
