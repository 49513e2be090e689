import pg from 'pg';
import { CONNECT_MS, type Connection } from '../database.ts';
import { ADVISORY_LOCKS } from '../locks/advisory-locks.ts';
import { MigrationError, makeSchema, migrate, reachedMigrations, UNFINISHED_MOVE } from '../migrate.ts';
import { beginSnapshot } from '../snapshot.ts';
import {
  type Content,
  contentOf,
  copySequences,
  copyTable,
  listTables,
  nameOf,
  type Table,
} from './tables.ts';

/** Why a database cannot be moved. Its message says what to do. */
export class MoveError extends Error {}

/** A service whose tables are moved. */
export interface MovedService {
  schema: string;
  /** of its migrations */
  folder: URL;
  /** schema of its job queue, which another program keeps */
  jobs: string;
  /** Makes the tables of the job queue. */
  makeJobs: (connection: Connection) => Promise<void>;
}

export interface Moving {
  source: Connection;
  /** of the role that is to own the tables */
  target: Connection;
  /** of the role that keeps the job queues, in the target; by default the same */
  queues?: Connection;
  services: readonly MovedService[];
  /** called for each table that was copied and compared */
  onTable?: (table: { name: string; rows: string }) => void;
  /** called often, with the bytes that were copied so far, and about how many there are */
  onProgress?: (progress: { copied: number; total: number }) => void;
}

/**
 * Fills an empty database with everything that another one holds, at the source's level of migrations, and compares
 * each table. The source is only read, as it is at one moment. A move that ended early is begun again from nothing: until the end,
 * the target has a mark that keeps services from starting on it.
 *
 * @returns the services that the source has
 * @throws MoveError, MigrationError
 */
export async function moveDatabase(moving: Moving): Promise<MovedService[]> {
  const source = await connect(moving.source);
  try {
    const target = await connect(moving.target);
    try {
      await target.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.move]);
      await beginSnapshot(source);
      await checkDifferent(source);
      const services = await findServices(source, moving.services);
      const levels = await levelsOf(source, services);
      await clear(target, moving.services);
      const tables = await prepare(source, target, moving, levels);
      const contents = await copyAll(source, target, tables, moving);
      await copySequences(source, target, schemasOf(services));
      await source.query('COMMIT');
      await checkUnchanged(source, services, contents);
      await finish(target, services);
      return services;
    } finally {
      await target.end();
    }
  } finally {
    await source.end();
  }
}

/** Values are written alike on both sides, whatever the servers' settings. */
const SESSION = `SET timezone = 'UTC'; SET datestyle = 'ISO, YMD'; SET intervalstyle = 'postgres';
  SET bytea_output = 'hex'; SET extra_float_digits = 1; SET idle_in_transaction_session_timeout = 0;
  SET statement_timeout = 0; SET search_path = pg_catalog`;

async function connect(connection: Connection): Promise<pg.Client> {
  const client = new pg.Client({
    ...connection,
    application_name: 'fieldtrace move',
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  // The statement in flight is rejected, and tells what happened.
  client.on('error', () => {});
  await client.connect();
  await client.query(SESSION);
  return client;
}

/** A lock belongs to one database: in a source where this move holds it already, that is the target. */
async function checkDifferent(source: pg.Client): Promise<void> {
  const { rows } = await source.query('SELECT pg_try_advisory_xact_lock_shared($1) AS free', [
    ADVISORY_LOCKS.move,
  ]);
  if (!rows[0].free) throw new MoveError('--from and --to must be different databases');
}

/**
 * The services of the source may run, as they keep an embedded server running, but nobody may write meanwhile. A job
 * queue changes on its own; the purpose of jobs is in the services' tables.
 */
async function checkUnchanged(
  source: pg.Client,
  services: readonly MovedService[],
  contents: ReadonlyMap<Table, Content>,
): Promise<void> {
  for (const [table, content] of contents) {
    if (!services.some(({ schema }) => schema === table.schema)) continue;
    const { rows, hash } = await contentOf(source, table);
    if (rows === content.rows && hash === content.hash) continue;
    throw new MoveError(
      `${table.schema}.${table.name} of the source was changed during the move: stop its clients, then move again`,
    );
  }
}

/** @throws MoveError when there is nothing, or something unfinished */
async function findServices(source: pg.Client, services: readonly MovedService[]): Promise<MovedService[]> {
  const moved: MovedService[] = [];
  for (const service of services)
    if (await hasTable(source, service.schema, 'migrations')) moved.push(service);
  if (await isUnfinished(source, moved))
    throw new MoveError('the source is the target of an unfinished move');
  if (moved.length > 0) return moved;
  throw new MoveError('the source has no tables of fieldtrace');
}

async function hasTable(client: pg.Client, schema: string, name: string): Promise<boolean> {
  const { rows } = await client.query('SELECT to_regclass($1) IS NOT NULL AS there', [
    nameOf(client, { schema, name }),
  ]);
  return rows[0].there;
}

/**
 * Removes what an earlier move left.
 *
 * @throws MoveError when the target is in use
 */
async function clear(target: pg.Client, services: readonly MovedService[]): Promise<void> {
  const { rows } = await target.query<{ name: string }>(
    'SELECT nspname AS name FROM pg_namespace WHERE nspname = ANY ($1)',
    [schemasOf(services)],
  );
  if (rows.length === 0) return;
  if (!(await isUnfinished(target, services))) {
    throw new MoveError('the target already has tables of fieldtrace: move into an empty database');
  }
  // The schema with the mark goes last, so that a move which ends here is known for one.
  const marked = services.map(({ schema }) => schema);
  const order = rows
    .map(({ name }) => name)
    .sort((a, b) => Number(marked.includes(a)) - Number(marked.includes(b)));
  await target.query('BEGIN');
  for (const name of order) await target.query(`DROP SCHEMA ${target.escapeIdentifier(name)} CASCADE`);
  await target.query('COMMIT');
}

async function isUnfinished(target: pg.Client, services: readonly MovedService[]): Promise<boolean> {
  for (const { schema } of services) {
    if (!(await hasTable(target, schema, 'migrations'))) continue;
    const name = nameOf(target, { schema, name: 'migrations' });
    const { rowCount } = await target.query(`SELECT FROM ${name} WHERE number = $1`, [UNFINISHED_MOVE]);
    if (rowCount === 1) return true;
  }
  return false;
}

/** The migrations that the tables of each service result from, by their names. */
type Levels = ReadonlyMap<MovedService, string[]>;

/** @throws MoveError when this version cannot make the tables of the source */
async function levelsOf(source: pg.Client, services: readonly MovedService[]): Promise<Levels> {
  const levels = new Map<MovedService, string[]>();
  for (const service of services) {
    try {
      levels.set(service, await reachedMigrations(source, service.schema, service.folder));
    } catch (error) {
      if (!(error instanceof MigrationError)) throw error;
      throw new MoveError(`--from: ${error.message}`, { cause: error });
    }
  }
  return levels;
}

/** Makes all tables in the target, empty, at the level of the source; returns those whose rows are to be copied. */
async function prepare(
  source: pg.Client,
  target: pg.Client,
  moving: Pick<Moving, 'target' | 'queues'>,
  levels: Levels,
): Promise<Table[]> {
  const services = [...levels.keys()];
  await target.query('BEGIN');
  for (const { schema } of services) {
    await makeSchema(target, schema);
    await target.query(`INSERT INTO migrations (number, name, checksum) VALUES ($1, 'unfinished move', '')`, [
      UNFINISHED_MOVE,
    ]);
  }
  await target.query('COMMIT');
  await target.query(SESSION);
  for (const [service, only] of levels) {
    await migrate(moving.target, service.schema, service.folder, { only });
    await service.makeJobs(moving.queues ?? moving.target);
    const [theirs, ours] = [await jobsLevel(source, service), await jobsLevel(target, service)];
    if (theirs !== ours) {
      throw new MoveError(
        `the job queue ${service.jobs} of the source is of version ${theirs}, and this fieldtrace has ${ours}: ` +
          'start this version on the source once to upgrade it, then move',
      );
    }
  }
  return emptyTables(source, target, services);
}

async function jobsLevel(client: pg.Client, { jobs }: MovedService): Promise<number> {
  const { rows } = await client.query(
    `SELECT version FROM ${nameOf(client, { schema: jobs, name: 'version' })}`,
  );
  return rows[0]?.version;
}

/** Tables of which the target has its own: those that say which level the others have, and the state of its fields. */
const OWN = new Set(['migrations', 'version', 'field_state']);
/** Tables in which migrations put rows, which the source has, too, or no longer has. */
const FILLED = new Set(['currency_types']);

async function emptyTables(
  source: pg.Client,
  target: pg.Client,
  services: readonly MovedService[],
): Promise<Table[]> {
  const schemas = schemasOf(services);
  const [theirs, ours] = [await listTables(source, schemas), await listTables(target, schemas)];
  const shape = (tables: Table[]) =>
    tables.map(({ schema, name, columns }) => `${schema}.${name}: ${columns}`).sort();
  const known = new Set(shape(ours));
  const strange = shape(theirs).find(table => !known.has(table));
  if (strange) throw new MoveError(`the source has a table that fieldtrace does not know: ${strange}`);
  const tables = theirs.filter(({ name }) => !OWN.has(name));
  for (const table of tables) {
    if (FILLED.has(table.name)) await target.query(`DELETE FROM ${nameOf(target, table)}`);
  }
  // The queue makes rows of its own when it is made; all others are empty.
  const made = tables.filter(({ schema }) => services.some(({ jobs }) => jobs === schema));
  if (made.length > 0) await target.query(`TRUNCATE ${made.map(table => nameOf(target, table)).join(', ')}`);
  return tables;
}

async function copyAll(
  source: pg.Client,
  target: pg.Client,
  tables: readonly Table[],
  { onTable, onProgress }: Moving,
): Promise<Map<Table, Content>> {
  const contents = new Map<Table, Content>();
  const total = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let copied = 0;
  for (const table of tables) {
    await copyTable(source, target, table, bytes => {
      copied += bytes;
      onProgress?.({ copied, total });
    });
    const [theirs, ours] = await Promise.all([contentOf(source, table), contentOf(target, table)]);
    const name = `${table.schema}.${table.name}`;
    if (theirs.rows !== ours.rows || theirs.hash !== ours.hash) {
      throw new MoveError(`${name} differs after the copy: ${theirs.rows} rows there, ${ours.rows} here`);
    }
    await target.query(`ANALYZE ${nameOf(target, table)}`);
    contents.set(table, theirs);
    onTable?.({ name, rows: ours.rows });
  }
  return contents;
}

/** Removes the mark: services may start. */
async function finish(target: pg.Client, services: readonly MovedService[]): Promise<void> {
  await target.query('BEGIN');
  for (const { schema } of services) {
    const name = nameOf(target, { schema, name: 'migrations' });
    await target.query(`DELETE FROM ${name} WHERE number = $1`, [UNFINISHED_MOVE]);
  }
  await target.query('COMMIT');
}

function schemasOf(services: readonly MovedService[]): string[] {
  return services.flatMap(({ schema, jobs }) => [schema, jobs]);
}
