import pg from 'pg';
import { CONNECT_MS, type Connection } from '../database.ts';

/** The address of a server. */
export interface Node {
  host: string;
  port: number;
}

/** A server of the cluster, and a session on it. */
export interface NodeSession {
  /** `host:port` */
  name: string;
  client: pg.Client;
}

/** Facts that a server reports about itself. */
export interface NodeFacts {
  /** `host:port` */
  name: string;
  /** such as 15.20 */
  version: string;
  /** such as 150020 */
  versionNumber: number;
  /** name and collation of the database's encoding */
  encoding: string;
  isSuperuser: boolean;
  /** whether the server loads Citus at its start */
  preloads: boolean;
  /** the version of Citus in this database, such as 13.2-1; null without it */
  citus: string | null;
  /** the version that CREATE EXTENSION would make; null if it is not installed on the server */
  available: string | null;
  walLevel: string;
  maxConnections: number;
  maxPreparedTransactions: number;
  /** bytes; null as long as the database has no Citus */
  freeBytes: number | null;
}

const FACTS = `
  SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS "versionNumber",
    (SELECT pg_encoding_to_char(encoding) || ' ' || datcollate FROM pg_database WHERE datname = current_database())
      AS encoding,
    (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS "isSuperuser",
    -- Only the library, loaded at the start of the server, has this setting.
    current_setting('citus.shard_count', true) IS NOT NULL AS preloads,
    (SELECT extversion FROM pg_extension WHERE extname = 'citus') AS citus,
    (SELECT default_version FROM pg_available_extensions WHERE name = 'citus') AS available,
    current_setting('wal_level') AS "walLevel", current_setting('max_connections')::int AS "maxConnections",
    current_setting('max_prepared_transactions')::int AS "maxPreparedTransactions"`;

/**
 * Reads `host:port,host:port`; IPv6 addresses are in brackets.
 *
 * @returns undefined if it is no such list, or names an address twice
 */
export function readNodes(text: string): Node[] | undefined {
  const nodes = text.split(',').map(readNode);
  if (nodes.some(node => node === undefined)) return undefined;
  const names = nodes.map(node => nodeName(node as Node));
  return new Set(names).size === names.length ? (nodes as Node[]) : undefined;
}

function readNode(text: string): Node | undefined {
  const [, host, port] = /^([\w.-]{1,253}|\[[\da-f:.]{2,45}\]):(\d{1,5})$/i.exec(text.trim()) ?? [];
  if (host === undefined || Number(port) < 1 || Number(port) > 65_535) return undefined;
  return { host: host.replaceAll(/[[\]]/g, ''), port: Number(port) };
}

export function nodeName({ host, port }: Node): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The settings of a connection to the same database on another server, as the same role. */
export function connectionTo(connection: Connection, { host, port }: Node): Connection {
  const { user, password, database, ssl } = new pg.Client(connection);
  return { user, password: password ?? undefined, database, ssl, host, port };
}

/** The address that a connection leads to; undefined for a socket of this machine. */
export function addressOf(connection: Connection): Node | undefined {
  const { host, port } = new pg.Client(connection);
  return host.startsWith('/') ? undefined : { host, port };
}

/** Opens a session on a server of the cluster; nothing limits how long its statements take. */
export async function openNode(connection: Connection, name: string): Promise<NodeSession> {
  const client = new pg.Client({
    ...connection,
    application_name: 'fieldtrace distribute',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  // The statement in flight is rejected.
  client.on('error', () => {});
  await client.connect();
  return { name, client };
}

export async function readNodeFacts({ name, client }: NodeSession): Promise<NodeFacts> {
  const { rows } = await client.query<Omit<NodeFacts, 'name' | 'freeBytes'>>(FACTS);
  const facts = rows[0] as Omit<NodeFacts, 'name' | 'freeBytes'>;
  return { name, ...facts, freeBytes: facts.citus === null ? null : await freeBytes(client) };
}

async function freeBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ free: number }>(
    'SELECT available_disk_size::float8 AS free FROM citus_local_disk_space_stats()',
  );
  return rows[0]?.free as number;
}
