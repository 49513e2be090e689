import type pg from 'pg';
import { type Node, nodeName } from './nodes.ts';
import { type DistributedTable, distributedTables, type Placements } from './placements.ts';

/** How soon the coordinator finishes transactions whose COMMIT broke on a worker: answers wait for it. */
export const RECOVERY_INTERVAL = '1s';
/** Connections for one statement to one worker: with more, concurrent requests wait for one another. */
export const POOL_SIZE = '1';

/**
 * Settings of the database on every server: a shard is read in a few milliseconds, and compiling the statement or
 * starting further processes for it takes longer.
 */
const SHORT_STATEMENTS = { jit: 'off', max_parallel_workers_per_gather: '0' };

/** A table of the cluster. */
export interface TableState extends DistributedTable {
  isDistributed: boolean;
  /** bytes on the disk of the coordinator, with indexes */
  bytes: number;
}

/** The distributed tables of a schema, in the order in which they are distributed. */
export async function tableStates(
  client: pg.Client,
  schema: string,
  placements: Placements,
): Promise<TableState[]> {
  const known = await hasCitus(client);
  const states: TableState[] = [];
  for (const table of distributedTables(placements)) {
    const name = qualified(client, schema, table.name);
    const { rows } = await client.query<{ bytes: number; isDistributed: boolean }>(
      `SELECT pg_table_size($1::regclass) + pg_indexes_size($1::regclass) AS bytes, ${
        known ? 'EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = $1::regclass)' : 'false'
      } AS "isDistributed"`,
      [name],
    );
    const { bytes, isDistributed } = rows[0] as (typeof rows)[number];
    states.push({ ...table, bytes: Number(bytes), isDistributed });
  }
  return states;
}

export async function hasCitus(client: pg.Client): Promise<boolean> {
  const { rowCount } = await client.query("SELECT FROM pg_extension WHERE extname = 'citus'");
  return rowCount === 1;
}

/** The servers that the coordinator knows, `host:port`; without it. */
export async function knownWorkers(client: pg.Client): Promise<string[]> {
  if (!(await hasCitus(client))) return [];
  const { rows } = await client.query<Node>(
    "SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid <> 0 AND noderole = 'primary' ORDER BY nodeid",
  );
  return rows.map(nodeName);
}

/** The address by which the workers know the coordinator; undefined while it has none. */
export async function coordinatorAddress(client: pg.Client): Promise<string | undefined> {
  if (!(await hasCitus(client))) return undefined;
  const { rows } = await client.query<Node>(
    'SELECT nodename AS host, nodeport AS port FROM pg_dist_node WHERE groupid = 0',
  );
  return rows[0] && nodeName(rows[0]);
}

/** Sessions of services in the database; a running service would wait for the locks of the copy. */
export async function countServiceSessions(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM pg_stat_activity
     WHERE datname = current_database() AND application_name = 'fieldtrace' AND pid <> pg_backend_pid()`,
  );
  return rows[0]?.count ?? 0;
}

/** The settings of the coordinator that differ from what fieldtrace needs, each as the statement that sets it. */
export async function lackingSettings(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ database: string; pool: boolean; recovery: boolean }>(
    `SELECT current_database() AS database,
       current_setting('citus.max_adaptive_executor_pool_size') = $1 AS pool,
       (SELECT setting::int FROM pg_settings WHERE name = 'citus.recover_2pc_interval') BETWEEN 1 AND 1000 AS recovery`,
    [POOL_SIZE],
  );
  const { database, pool, recovery } = rows[0] as (typeof rows)[number];
  return [
    ...(pool
      ? []
      : [
          `ALTER DATABASE ${client.escapeIdentifier(database)} SET citus.max_adaptive_executor_pool_size = ${POOL_SIZE}`,
        ]),
    ...(recovery ? [] : [`ALTER SYSTEM SET citus.recover_2pc_interval = '${RECOVERY_INTERVAL}'`]),
  ];
}

/** The settings of a server that differ from what every server of the cluster needs, each as the statement that sets it. */
export async function lackingServerSettings(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ database: string; name: string; value: string }>(
    `SELECT current_database() AS database, name, value
     FROM unnest($1::text[], $2::text[]) AS needed (name, value) WHERE current_setting(name) <> value`,
    [Object.keys(SHORT_STATEMENTS), Object.values(SHORT_STATEMENTS)],
  );
  return rows.map(
    ({ database, name, value }) =>
      `ALTER DATABASE ${client.escapeIdentifier(database)} SET ${name} = ${value}`,
  );
}

/** Distributes a table with its rows. Its rows on the coordinator stay, hidden, until {@link dropLocalRows}. */
export async function distributeTable(
  client: pg.Client,
  schema: string,
  table: DistributedTable,
  shards: number,
): Promise<void> {
  const name = qualified(client, schema, table.name);
  if (table.with === undefined) {
    await client.query(
      "SELECT create_distributed_table($1::text, $2, colocate_with => 'none', shard_count => $3)",
      [name, table.by, shards],
    );
  } else {
    await client.query('SELECT create_distributed_table($1::text, $2, colocate_with => $3)', [
      name,
      table.by,
      qualified(client, schema, table.with),
    ]);
  }
}

/**
 * Removes the rows that a distributed table still has on the coordinator. The owner of the table has no right to
 * truncate it, so that it gets it for this transaction.
 */
export async function dropLocalRows(client: pg.Client, schema: string, table: string): Promise<void> {
  const name = qualified(client, schema, table);
  await client.query('BEGIN');
  await client.query(`GRANT TRUNCATE ON ${name} TO CURRENT_USER`);
  await client.query('SELECT truncate_local_data_after_distributing_table($1::text)', [name]);
  await client.query(`REVOKE TRUNCATE ON ${name} FROM CURRENT_USER`);
  await client.query('COMMIT');
}

function qualified(client: pg.Client, schema: string, table: string): string {
  return `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(table)}`;
}
