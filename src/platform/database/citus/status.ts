import type pg from 'pg';
import { hasCitus } from './cluster.ts';
import { type Node, nodeName } from './nodes.ts';

interface TableRow {
  name: string;
  column: string;
  shards: number;
  bytes: number;
}

interface NodeRow extends Node {
  isActive: boolean;
  shards: number;
  bytes: number;
}

const TABLES = `
  SELECT table_name::text AS name, distribution_column AS column, shard_count::int AS shards,
    (SELECT coalesce(sum(shard_size), 0)::float8 FROM citus_shards WHERE citus_shards.table_name = tables.table_name)
      AS bytes
  FROM citus_tables AS tables WHERE citus_table_type = 'distributed' ORDER BY 1`;

const NODES = `
  SELECT node.nodename AS host, node.nodeport AS port, node.isactive AS "isActive", count(shardid)::int AS shards,
    coalesce(sum(shard_size), 0)::float8 AS bytes
  FROM pg_dist_node AS node
  LEFT JOIN citus_shards AS shard
    ON shard.nodename = node.nodename AND shard.nodeport = node.nodeport AND citus_table_type = 'distributed'
  WHERE noderole = 'primary' AND (shouldhaveshards OR shardid IS NOT NULL)
  GROUP BY node.nodeid, 1, 2, 3 ORDER BY node.nodeid`;

/** How the tables of a database are distributed, in lines; undefined if it has no Citus. */
export async function distributionStatus(client: pg.Client): Promise<string[] | undefined> {
  if (!(await hasCitus(client))) return undefined;
  const { rows: versions } = await client.query<{ version: string }>(
    "SELECT extversion || ' on PostgreSQL ' || current_setting('server_version') AS version FROM pg_extension WHERE extname = 'citus'",
  );
  const { rows: tables } = await client.query<TableRow>(TABLES);
  const { rows: nodes } = await client.query<NodeRow>(NODES);
  const { rows: waiting } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM pg_dist_transaction',
  );
  return [
    `Citus ${versions[0]?.version}`,
    ...tables.map(
      ({ name, column, shards, bytes }) =>
        `table ${name}: by ${column}, ${shards} shards, ${megabytes(bytes)}`,
    ),
    ...nodes.map(
      ({ isActive, shards, bytes, ...node }) =>
        `server ${nodeName(node)}: ${shards} shards, ${megabytes(bytes)}${isActive ? '' : ', not active'}`,
    ),
    ...(tables.length > 0 ? [balanceOf(nodes)] : ['no table is distributed']),
    `${waiting[0]?.count} records of transactions over several servers`,
  ];
}

function balanceOf(nodes: readonly NodeRow[]): string {
  const sizes = nodes.map(({ bytes }) => bytes);
  const mean = sizes.reduce((sum, bytes) => sum + bytes, 0) / sizes.length;
  const most = Math.max(...sizes);
  if (!(mean > 0)) return 'balance: nothing is stored yet';
  const share = (most / mean).toFixed(2);
  const hint = most > 1.25 * mean ? '; SELECT citus_rebalance_start() on the coordinator moves shards' : '';
  return `balance: the fullest server has ${share} times the mean${hint}`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}
