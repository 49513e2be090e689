import type pg from 'pg';
import type { Database } from './database.ts';

/**
 * Begins a transaction whose statements all see the database as it is at one moment, and which can write nothing. The
 * caller ends it with COMMIT.
 */
export async function beginSnapshot(database: Database): Promise<void> {
  await database.query({ text: 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' });
}

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
    await beginSnapshot(client);
    const result = await work(client);
    await client.query('COMMIT');
    broken = false;
    return result;
  } finally {
    client.release(broken);
  }
}
