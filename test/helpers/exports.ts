import type pg from 'pg';

// On a cluster an export looks for its next window between two COPYs.
const EXPORTING = `datname = current_database() AND state <> 'idle' AND pid <> pg_backend_pid()
  AND (query LIKE 'COPY (%' OR query LIKE '%SELECT max(ts)::text AS until%')`;

/** How many sessions of a database export packets. */
export async function exportingSessions(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query(`SELECT count(*)::int AS count FROM pg_stat_activity WHERE ${EXPORTING}`);
  return rows[0].count;
}

/** Ends the sessions that export packets. */
export async function endExportingSessions(pool: pg.Pool): Promise<void> {
  await pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${EXPORTING}`);
}
