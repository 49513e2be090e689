import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { rolesOf } from './check-roles.ts';
import { CONNECT_MS, type Connection } from './database.ts';
import { type Deadline, watchDeadline } from './deadlines.ts';
import { ADVISORY_LOCKS } from './locks/advisory-locks.ts';
import { createSchema, MigrationError } from './make-schema.ts';
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
  /** number of the last migration that is run, in a database that `fieldtrace move` fills */
  upTo?: number;
  /** of the role that the service uses, which gets its rights on the tables */
  service?: Connection | undefined;
}

interface Migration {
  number: number;
  name: string;
  text: string;
  checksum: string;
}

/**
 * Brings one service's schema up to date. Migrations are numbered SQL files that only go forward; each runs in its
 * own transaction together with its record, so that a crash between two of them loses nothing. Processes that start
 * together take turns. A database with a migration that is unknown to this version, or has another text, is left
 * unchanged.
 *
 * @param connection of the role that owns the tables; any other one can only find that there is nothing to do
 * @param schema the PostgreSQL schema of the service, created if missing
 * @param folder the folder of `NNN-name.sql` files
 * @returns the names of the migrations that ran now
 * @throws MigrationError; SettingsError if the two roles are in different databases
 */
export async function migrate(
  connection: Connection,
  schema: string,
  folder: URL,
  { deadline = MIGRATION_DEADLINE, upTo, service }: MigrateOptions = {},
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
    const names = await apply(client, migrations, upTo);
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
  migrations: Migration[],
  isOwner: boolean,
): Promise<void> {
  if (isOwner) {
    throw new MigrationError(
      `DATABASE_OWNER_URL: this role does not own the schema ${schema}: run two-roles.sql (docs/operations.md, "Two roles")`,
    );
  }
  await client.query(`SET search_path = ${client.escapeIdentifier(schema)}`);
  const lacking = await pending(client, migrations);
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
      `DATABASE_URL: PostgreSQL 15 or newer is needed, this server is ${rows[0]?.version}`,
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
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: CONNECT_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`SET search_path = ${client.escapeIdentifier(schema)}`);
    const { rows } = await client.query(`SELECT to_regclass('migrations') IS NOT NULL AS "isThere"`);
    if (!rows[0].isThere) return undefined;
    return (await pending(client, await readMigrations(folder))).map(({ name }) => name);
  } finally {
    await client.end();
  }
}

async function pending(client: pg.Client, migrations: Migration[], upTo?: number): Promise<Migration[]> {
  const { rows: applied } = await client.query<{ number: number; name: string; checksum: string }>(
    'SELECT number, name, checksum FROM migrations ORDER BY number',
  );
  for (const { number, name, checksum } of applied) {
    if (number === UNFINISHED_MOVE) {
      if (upTo !== undefined) continue;
      throw new MigrationError('a move into this database was not finished: run `fieldtrace move` again');
    }
    const known = migrations.find(migration => migration.number === number);
    if (!known) throw new MigrationError(`the database has migration ${name} of a newer fieldtrace`);
    if (known.checksum !== checksum) {
      throw new MigrationError(
        `migration ${name} was edited after it ran in this database; restore its text`,
      );
    }
  }
  const wanted = migrations.filter(({ number }) => number <= (upTo ?? number));
  return wanted.filter(({ number }) => !applied.some(row => row.number === number));
}

async function apply(
  client: pg.Client,
  migrations: Migration[],
  upTo: number | undefined,
): Promise<string[]> {
  const lacking = await pending(client, migrations, upTo);
  for (const { number, name, text, checksum } of lacking) {
    await client.query('BEGIN');
    await client.query(text);
    await client.query('INSERT INTO migrations (number, name, checksum) VALUES ($1, $2, $3)', [
      number,
      name,
      checksum,
    ]);
    await client.query('COMMIT');
  }
  return lacking.map(({ name }) => name);
}

async function readMigrations(folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter(name => /^\d{3}-[a-z-]+\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async name => {
      const text = await readFile(new URL(name, folder), 'utf8');
      return { number: Number(name.slice(0, 3)), name, text, checksum: hash('sha256', text, 'hex') };
    }),
  );
}
