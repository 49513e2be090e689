import type { Database } from './database.ts';

/**
 * Tests a write without changing anything: takes the lock of an insert into a table, and commits a logical message,
 * which is only in the WAL and is flushed like any other commit.
 *
 * @param table a table of the service; a name of ours, never from a request
 * @param space whether a megabyte is allocated as well, in a table that is gone with its transaction
 * @throws any error that prevents writing
 */
export async function checkWrites(database: Database, table: string, space: boolean): Promise<void> {
  await database.query({
    text: `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${table} WHERE false`,
  });
  await database.query({ text: "SELECT pg_logical_emit_message(true, 'fieldtrace', '')" });
  if (!space) return;
  await database.query({
    text: `CREATE TEMPORARY TABLE fieldtrace_space ON COMMIT DROP AS
      SELECT repeat('x', 1000) AS filler FROM generate_series(1, 1000)`,
  });
}
