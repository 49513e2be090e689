import pg from 'pg';
import { rolesOf } from './check-roles.ts';
import { CONNECT_MS, type Connection, type Database, withSession } from './database.ts';
import { type Deadline, watchDeadline } from './deadlines.ts';
import { ADVISORY_LOCKS } from './locks/advisory-locks.ts';
import { createSchema, MigrationError } from './make-schema.ts';
import {
  type Applied,
  type Comparison,
  compareMigrations,
  type Migrations,
  readMigrations,
} from './migrations.ts';
import { divide, type Roles } from './roles/divide.ts';

export { MigrationError };

const OLDEST_SERVER = 150_000;
/** Timeout of a statement of a migration, and of waiting for another process's migrations: large indexes take hours. */
const MIGRATION_DEADLINE: Deadline = { ms: 6 * 3600_000, of: 'statement' };
/** Idle time before TCP keep-alive probes, in milliseconds. */
const KEEP_ALIVE_MS = 30_000;

/** Number of the row that a database has among its migrations while `fieldtrace move` fills it. */
export const UNFINISHED_MOVE = -1;

export interface MigrateOptions {
  /** time after which an unresponsive connection is destroyed */
  deadline?: Deadline;
  /** names of the migrations that are run, in a database that `fieldtrace move` fills */
  only?: readonly string[];
  /** of the role that the service uses, which gets its rights on the tables */
  service?: Connection | undefined;
}

/**
 * Brings one service's schema up to date. Migrations are numbered SQL files that only go forward; each runs in its
 * own transaction together with its record, so that a crash between two of them loses nothing. Processes that start
 * together take turns. A database with a migration that is unknown to this version, or has another text, is left
 * unchanged. In a database that has all migrations of a version that the first migration replaces, their records are
 * replaced by its own.
 *
 * @param connection of the role that owns the tables; any other one can only find that there is nothing to do
 * @param schema the PostgreSQL schema of the service, created if missing
 * @param folder the folder of `NNN-name.sql` files
 * @returns the names of the migrations that ran or were recorded now
 * @throws MigrationError; SettingsError if the two roles are in different databases
 */
export async function migrate(
  connection: Connection,
  schema: string,
  folder: URL,
  { deadline = MIGRATION_DEADLINE, only, service }: MigrateOptions = {},
): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const client = new pg.Client({
    ...connection,
    application_name: 'fieldtrace migrate',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  });
  // The statement in flight is rejected.
  client.on('error', () => {});
  await client.connect();
  watchDeadline(client, deadline, () => {});
  try {
    await checkServer(client);
    const roles = service && (await rolesOf(client, service));
    await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrate]);
    if (!(await ownsSchema(client, schema))) {
      await refuseWork(client, schema, migrations, roles !== undefined);
      return [];
    }
    await makeSchema(client, schema);
    const names = await apply(client, migrations, only);
    if (roles) await grant(client, roles);
    return names;
  } finally {
    await client.end();
  }
}

/** Makes the schema of a service and the table of its migrations where they are missing, and has the session see them. */
export async function makeSchema(client: pg.Client, schema: string): Promise<void> {
  await createSchema(client, schema);
  await client.query(`SET search_path = ${client.escapeIdentifier(schema)}, public`);
  await client.query(`CREATE TABLE IF NOT EXISTS migrations (
    number integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now())`);
}

/** @throws MigrationError if the roles cannot be what they should be */
async function grant(client: pg.Client, roles: Roles): Promise<void> {
  try {
    await divide(client, roles);
  } catch (error) {
    // Insufficient privilege, raised exception.
    if (!['42501', 'P0001'].includes((error as { code?: string }).code ?? '')) throw error;
    throw new MigrationError(
      `DATABASE_OWNER_URL: ${(error as Error).message}; run two-roles.sql (docs/operations.md, "Two roles")`,
      { cause: error },
    );
  }
}

/** Whether the schema is missing, or the session may make tables in it. */
async function ownsSchema(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ owns: boolean }>(
    `SELECT pg_has_role(nspowner, 'USAGE') OR has_schema_privilege(oid, 'CREATE') AS owns
     FROM pg_namespace WHERE nspname = $1`,
    [schema],
  );
  return rows[0]?.owns ?? true;
}

/** @throws MigrationError if there is work that only the owner of the tables can do */
async function refuseWork(
  client: pg.Client,
  schema: string,
  migrations: Migrations,
  isOwner: boolean,
): Promise<void> {
  if (isOwner) {
    throw new MigrationError(
      `DATABASE_OWNER_URL: this role does not own the schema ${schema}: run two-roles.sql (docs/operations.md, "Two roles")`,
    );
  }
  await client.query(`SET search_path = ${client.escapeIdentifier(schema)}`);
  const { lacking } = await compare(client, migrations);
  if (lacking.length === 0) return;
  throw new MigrationError(
    `the database lacks ${lacking.map(({ name }) => name).join(', ')}, and the role of DATABASE_URL does not own its ` +
      'tables: set DATABASE_OWNER_URL, or run `fieldtrace migrate` with it once',
  );
}

async function checkServer(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ number: string; version: string }>(
    "SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version",
  );
  if (Number(rows[0]?.number) < OLDEST_SERVER) {
    throw new MigrationError(
      `DATABASE_URL: PostgreSQL 15 or newer is required; this server is ${rows[0]?.version}`,
    );
  }
}

/**
 * The migrations that a database lacks, without changing it.
 *
 * @returns undefined where the service has no tables yet
 * @throws MigrationError
 */
export async function pendingMigrations(
  connection: Connection,
  schema: string,
  folder: URL,
): Promise<string[] | undefined> {
  return withSession(connection, async client => {
    await client.query(`SET search_path = ${client.escapeIdentifier(schema)}`);
    const { rows } = await client.query(`SELECT to_regclass('migrations') IS NOT NULL AS "isThere"`);
    if (!rows[0].isThere) return undefined;
    const { lacking } = await compare(client, await readMigrations(folder));
    return lacking.map(({ name }) => name);
  });
}

/**
 * The names of the migrations that the tables of a service result from, in the folder of this version.
 *
 * @throws MigrationError if this version cannot make the same tables
 */
export async function reachedMigrations(client: pg.Client, schema: string, folder: URL): Promise<string[]> {
  const migrations = await readMigrations(folder);
  const { lacking, isReplaced } = await compare(client, migrations, { schema });
  const missing = isReplaced ? lacking.slice(1) : lacking;
  return migrations.all.filter(migration => !missing.includes(migration)).map(({ name }) => name);
}

interface ComparedWith {
  /** the schema of the service, if it is not in the search path of the session */
  schema?: string;
  /** whether a move may have left the database unfinished */
  isMoved?: boolean;
}

/** @throws MigrationError if this version cannot work with the database */
async function compare(
  client: pg.Client,
  migrations: Migrations,
  { schema, isMoved = false }: ComparedWith = {},
): Promise<Comparison> {
  const table = schema === undefined ? 'migrations' : `${client.escapeIdentifier(schema)}.migrations`;
  const { rows } = await client.query<Applied>(`SELECT number, name, checksum FROM ${table} ORDER BY number`);
  const applied = rows.filter(({ number }) => number !== UNFINISHED_MOVE);
  if (applied.length < rows.length && !isMoved) {
    throw new MigrationError('a move into this database was not finished: run `fieldtrace move` again');
  }
  return compareMigrations(applied, migrations);
}

/** When a migration of a service ran, in a session whose search path has the service's schema. */
export async function findAppliedAt(database: Database, number: number): Promise<Date | undefined> {
  const { rows } = await database.query<{ at: Date }>({
    text: 'SELECT applied_at AS at FROM migrations WHERE number = $1',
    values: [number],
  });
  return rows[0]?.at;
}

async function apply(
  client: pg.Client,
  migrations: Migrations,
  only: readonly string[] | undefined,
): Promise<string[]> {
  const { lacking, isReplaced } = await compare(client, migrations, { isMoved: only !== undefined });
  const wanted = lacking.filter(({ name }) => only?.includes(name) ?? true);
  for (const [at, { number, name, text, checksum }] of wanted.entries()) {
    await client.query('BEGIN');
    if (isReplaced && at === 0) await client.query('DELETE FROM migrations WHERE number < $1', [number]);
    else await client.query(text);
    await client.query('INSERT INTO migrations (number, name, checksum) VALUES ($1, $2, $3)', [
      number,
      name,
      checksum,
    ]);
    await client.query('COMMIT');
  }
  return wanted.map(({ name }) => name);
}
