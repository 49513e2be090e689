import type pg from 'pg';

/**
 * Citus commits on a single worker before it commits on the coordinator: a coordinator that dies in between has lost
 * what the transaction wrote to its own tables, such as the log's outbox, and the worker keeps its rows. It only
 * prepares the commit (two phases) if several workers take part, or a table that Citus knows on the coordinator. A
 * trigger on tables that are written together with shards therefore deletes from such a table, which is always empty.
 */
const TABLE = 'two_phase_commits';
const TRIGGER = 'commit_in_two_phases';

/** Whether the transactions that write to a table of the coordinator commit in two phases. */
export async function commitsInTwoPhases(client: pg.Client, schema: string, table: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_trigger WHERE tgname = $1 AND tgrelid = to_regclass($2)',
    [TRIGGER, qualified(client, schema, table)],
  );
  return rowCount === 1;
}

/** Has transactions that write to a table of the coordinator commit in two phases. */
export async function commitInTwoPhases(client: pg.Client, schema: string, table: string): Promise<void> {
  const empty = qualified(client, schema, TABLE);
  const run = qualified(client, schema, TRIGGER);
  await client.query('BEGIN');
  const { rows } = await client.query<{ isThere: boolean }>(
    'SELECT to_regclass($1) IS NOT NULL AS "isThere"',
    [empty],
  );
  if (!rows[0]?.isThere) {
    await client.query(`CREATE TABLE ${empty} (id integer PRIMARY KEY)`);
    await client.query('SELECT citus_add_local_table_to_metadata($1::regclass)', [empty]);
  }
  // With the rights of the owner: the services need none on the table.
  await client.query(`
    CREATE OR REPLACE FUNCTION ${run}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog AS $$
    BEGIN
      DELETE FROM ${empty} WHERE id = 0;
      RETURN NULL;
    END $$`);
  await client.query(`
    CREATE OR REPLACE TRIGGER ${TRIGGER} BEFORE INSERT ON ${qualified(client, schema, table)}
    FOR EACH STATEMENT EXECUTE FUNCTION ${run}()`);
  await client.query('COMMIT');
}

function qualified(client: pg.Client, schema: string, name: string): string {
  return `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(name)}`;
}
