import type pg from 'pg';
import { statementName } from './statement-name.ts';

/** Facts that a server reports about itself. */
export interface ServerFacts {
  version: string;
  /** such as 180004 */
  versionNumber: number;
  startedAt: Date;
  /** its clock */
  now: Date;
  fsync: boolean;
  fullPageWrites: boolean;
  synchronousCommit: string;
  checksums: boolean;
  /** pages of this database that did not match their checksum; 0 without checksums */
  checksumFailures: number;
  /** a standby, or a database that takes no writes */
  readOnly: boolean;
  role: string;
  isSuperuser: boolean;
  databaseBytes: number;
  connections: number;
  /** those that roles other than superusers can have */
  maxConnections: number;
  /** process ids of fieldtrace processes that keep the embedded server */
  supervisors: number[];
  /** the statement of the services that has run longest, and for how many seconds */
  longest: { statement: string; seconds: number } | null;
}

const FACTS = `
  SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS "versionNumber",
    pg_postmaster_start_time() AS "startedAt", clock_timestamp() AS now,
    current_setting('fsync')::bool AS fsync, current_setting('full_page_writes')::bool AS "fullPageWrites",
    current_setting('synchronous_commit') AS "synchronousCommit",
    current_setting('data_checksums')::bool AS checksums,
    (SELECT coalesce(checksum_failures, 0)::int FROM pg_stat_database WHERE datname = current_database())
      AS "checksumFailures",
    pg_is_in_recovery() OR current_setting('default_transaction_read_only')::bool AS "readOnly",
    current_user AS role, (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS "isSuperuser",
    pg_database_size(current_database())::float8 AS "databaseBytes",
    (SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'client backend') AS connections,
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true)::int, 0) AS "maxConnections",
    ARRAY(SELECT substring(application_name FROM '\\d+$')::int FROM pg_stat_activity
      WHERE application_name ~ '^fieldtrace supervisor \\d+$') AS supervisors,
    (SELECT json_build_object('statement', left(query, 4000),
        'seconds', round(extract(epoch FROM clock_timestamp() - query_start)))
      FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'fieldtrace' AND state = 'active'
        AND pid <> pg_backend_pid()
      ORDER BY query_start LIMIT 1) AS longest`;

/** Asks a server about itself. Any role may. */
export async function readServerFacts(client: pg.Client): Promise<ServerFacts> {
  const { rows } = await client.query<ServerFacts>(FACTS);
  const facts = rows[0] as ServerFacts;
  const { longest } = facts;
  // A text may contain values.
  return {
    ...facts,
    longest: longest && { ...longest, statement: statementName({ text: longest.statement }) },
  };
}

/** The tables of some schemas that the session's role cannot read, as schema.table. */
export async function unreadableTables(client: pg.Client, schemas: readonly string[]): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT nspname || '.' || relname AS name FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
     WHERE nspname = ANY ($1) AND relkind IN ('r', 'p')
       AND NOT (has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(pg_class.oid, 'SELECT'))
     ORDER BY 1`,
    [schemas],
  );
  return rows.map(({ name }) => name);
}

/** A number of rows; not exact where there are many. */
export interface RowCount {
  rows: number;
  isExact: boolean;
}

/** Rows that are counted one by one, at most; beyond it the planner's estimate is used. */
const MAX_COUNTED = 10_000;

/** Counts the rows of a table, in bounded time. */
export async function countRows(client: pg.Client, schema: string, table: string): Promise<RowCount> {
  const name = `${client.escapeIdentifier(schema)}.${client.escapeIdentifier(table)}`;
  const { rows } = await client.query<{ counted: number; estimated: number }>(
    `SELECT (SELECT count(*)::int FROM (SELECT 1 FROM ${name} LIMIT ${MAX_COUNTED + 1}) AS found) AS counted,
       (SELECT reltuples::float8 FROM pg_class WHERE oid = '${name}'::regclass) AS estimated`,
  );
  const { counted = 0, estimated = 0 } = rows[0] ?? {};
  if (counted <= MAX_COUNTED) return { rows: counted, isExact: true };
  return { rows: Math.max(counted, estimated), isExact: false };
}
