import type { Database } from './database.ts';

/**
 * Writes a logical message, which is only in the WAL and is flushed like a commit. Without a transaction id where that is
 * possible, so that backups see that it is nothing to ship; but only commits wait for synchronous standbys.
 */
const MESSAGE = `DO $$ BEGIN
  IF current_setting('server_version_num')::int >= 170000 AND current_setting('synchronous_standby_names') = '' THEN
    EXECUTE 'SELECT pg_logical_emit_message(false, ''fieldtrace'', '''', true)';
  ELSE
    PERFORM pg_logical_emit_message(true, 'fieldtrace', '');
  END IF;
END $$`;

/**
 * Tests a write without changing anything: takes the lock of an insert into a table, and writes a logical message.
 *
 * @param table a table of the service; a name of ours, never from a request
 * @param space whether a megabyte is allocated as well, in a table that is gone with its transaction
 * @throws any error that prevents writing
 */
export async function checkWrites(database: Database, table: string, space: boolean): Promise<void> {
  await database.query({
    text: `INSERT INTO ${table} OVERRIDING SYSTEM VALUE SELECT * FROM ${table} WHERE false`,
  });
  await database.query({ text: MESSAGE });
  if (!space) return;
  await database.query({
    text: `CREATE TEMPORARY TABLE fieldtrace_space ON COMMIT DROP AS
      SELECT repeat('x', 1000) AS filler FROM generate_series(1, 1000)`,
  });
}
