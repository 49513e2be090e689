import type pg from 'pg';
import type { Database } from './database.ts';

/**
 * Runs `work` on one connection, all of whose statements see the database as it is at one moment. Nothing can be
 * written.
 */
export async function inSnapshot<Result>(
  pool: pg.Pool,
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect();
  let broken = true;
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const result = await work(client);
    await client.query('COMMIT');
    broken = false;
    return result;
  } finally {
    client.release(broken);
  }
}
