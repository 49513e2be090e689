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
 * The jobs of each queue; those that are due later do not wait yet. The counts that pg-boss keeps are updated by its supervision, which rests on an idle server.
 *
 * @param schema of the job queue
 */
export async function countJobs(database: Database, schema: string): Promise<QueueCount[]> {
  const { rows } = await database.query<QueueCount>(sql`
    SELECT queue.name AS queue, (count(*) FILTER (WHERE job.state = 'retry' OR (job.state = 'created' AND job.start_after <= now())))::int AS waiting,
      (count(*) FILTER (WHERE job.state = 'active'))::int AS active
    FROM ${raw(`"${schema}"`)}.queue LEFT JOIN ${raw(`"${schema}"`)}.job
      ON job.name = queue.name AND job.state <= 'active'
    WHERE queue.name NOT LIKE '\\_\\_pgboss%' GROUP BY queue.name ORDER BY queue.name LIMIT 100`);
  return rows;
}

/** Jobs of a queue that have failed and are tried again. */
export interface Retries {
  jobs: number;
  /** when the oldest of them was created */
  since: Date;
  /** when the last attempt at one of them began */
  triedAt: Date;
  /** why it failed; absent if its process was killed */
  error: string | null;
  /** when a job of the queue was last done; null if none was in the last hour */
  doneAt: Date | null;
}

/**
 * What a queue tries again.
 *
 * @param schema of the job queue
 * @returns undefined if nothing has failed
 */
export async function findRetries(
  database: Database,
  schema: string,
  queue: string,
): Promise<Retries | undefined> {
  const { rows } = await database.query<Retries>(sql`
    WITH tried AS (
      SELECT created_on, started_on, output ->> 'message' AS message FROM ${raw(`"${schema}"`)}.job
      WHERE name = ${queue} AND (state = 'retry' OR (state = 'active' AND retry_count > 0))
    )
    SELECT count(*)::int AS jobs, min(created_on) AS since, max(started_on) AS "triedAt",
      (SELECT message FROM tried WHERE message IS NOT NULL ORDER BY started_on DESC LIMIT 1) AS error,
      (SELECT max(completed_on) FROM ${raw(`"${schema}"`)}.job
        WHERE name = ${queue} AND state = 'completed') AS "doneAt"
    FROM tried HAVING count(*) > 0`);
  return rows[0];
}

/** Whether a job is in progress, which may be of a killed process, or is to be deleted. */
export async function needsSupervision(database: Database, schema: string): Promise<boolean> {
  const { rows } = await database.query<{ needs: boolean }>(sql`
    SELECT EXISTS (
      SELECT FROM ${raw(`"${schema}"`)}.job WHERE state = 'active'
      OR (deletion_seconds > 0 AND completed_on + deletion_seconds * interval '1 s' < now())
      OR (state < 'active' AND keep_until < now())
    ) AS needs`);
  return rows[0]?.needs ?? true;
}
