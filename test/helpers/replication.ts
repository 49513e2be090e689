import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { migratePacketService } from '../../src/packet-service/app.ts';
import type { Connection } from '../../src/platform/database/database.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/platform/embedded-postgres/index.ts';
import type { Fill } from '../../src/platform/embedded-postgres/initialise.ts';
import type { ServiceRole } from './database.ts';

/** A standby that follows a primary by streaming replication. */
export interface Standby {
  /** for READ_DATABASE_URL */
  url: string;
  /** Runs a statement as superuser. */
  run(statement: string): Promise<pg.QueryResult>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A primary with the packet service's tables, and its standbys. */
export interface Replication {
  connection: Connection;
  /** of the services */
  role: ServiceRole;
  /** Runs a statement as superuser, in the services' database. */
  run(statement: string): Promise<pg.QueryResult>;
  /** Copies the primary and starts the copy as a standby. */
  standby(): Promise<Standby>;
  stop(): Promise<void>;
}

const logger = pino({ level: 'silent' });
/** The files that a copy leaves out: see "Backing Up the Data Directory" in PostgreSQL's documentation. */
const LEFT_OUT = /^(postmaster\.(pid|opts)|pg_internal\.init.*|standby\.signal|pgsql_tmp.*)$/;
const LEFT_EMPTY = new Set(
  'pg_wal pg_replslot pg_dynshmem pg_notify pg_serial pg_snapshots pg_stat_tmp pg_subtrans'.split(' '),
);

/** Starts a primary, a server of its own. */
export async function startReplication(): Promise<Replication> {
  const root = await mkdtemp(path.join(tmpdir(), 'fieldtrace-test-'));
  await chmod(root, 0o755);
  const primary = await startEmbeddedPostgres({
    dataDir: path.join(root, 'primary'),
    logger,
    // Standbys that were away find what they lack.
    recovery: { wal_keep_size: '256MB' },
  });
  await migratePacketService(primary.connection, primary.owner);
  const standbys: Standby[] = [];
  return {
    connection: primary.connection,
    role: { user: primary.connection.user, password: primary.connection.password },
    run: statement => runAs(primary, statement),
    async standby() {
      const standby = await startStandby(primary, path.join(root, `standby-${standbys.length + 1}`));
      standbys.push(standby);
      return standby;
    },
    async stop() {
      for (const standby of standbys) await standby.stop();
      await primary.stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

async function startStandby(primary: EmbeddedPostgres, dataDir: string): Promise<Standby> {
  const superuser = primary.backup.passwords()['superuser-password'];
  const { host, port } = primary.connection;
  const recovery = {
    primary_conninfo: `host='${host}' port=${port} user=fieldtrace_superuser password=${superuser}`,
    hot_standby_feedback: 'on',
    // What is replayed does not wait for statements that are in its way.
    max_standby_streaming_delay: '100ms',
  };
  const open = (fill?: Fill) =>
    startEmbeddedPostgres({ dataDir, logger, recovery, asItIs: true, ...(fill && { fill }) });
  let server: EmbeddedPostgres | undefined = await open((directory, owner) =>
    copyRunning(primary, directory, owner),
  );
  const { user, password, host: socket } = server.connection;
  return {
    url: `postgres://${user}:${password}@/fieldtrace?host=${encodeURIComponent(socket)}&port=${port}`,
    run: statement => runOnStandby(server as EmbeddedPostgres, statement),
    async start() {
      server = await open();
    },
    async stop() {
      await server?.stop();
      server = undefined;
    },
  };
}

/** Copies the data directory of a server that runs, as a base backup does, and makes the copy a standby. */
async function copyRunning(
  { backup }: EmbeddedPostgres,
  directory: string,
  { uid, gid }: { uid: number; gid: number },
): Promise<Record<string, string>> {
  const write = async (name: string, text: string) => {
    await writeFile(path.join(directory, name), text, { mode: 0o600 });
    await chown(path.join(directory, name), uid, gid);
  };
  const copy = async (name: string) => {
    await copyFile(path.join(backup.cluster, name), path.join(directory, name));
    await chown(path.join(directory, name), uid, gid);
  };
  const makeFolder = async (name: string) => {
    await mkdir(path.join(directory, name), { mode: 0o700 });
    await chown(path.join(directory, name), uid, gid);
  };
  async function visit(folder: string): Promise<void> {
    for (const entry of await readdir(path.join(backup.cluster, folder), { withFileTypes: true })) {
      const name = path.join(folder, entry.name);
      if (LEFT_OUT.test(entry.name) || name === 'global/pg_control') continue;
      if (entry.isDirectory()) {
        await makeFolder(name);
        if (!LEFT_EMPTY.has(name)) await visit(name);
      } else if (entry.isFile()) await copy(name);
    }
  }
  const client = await backup.connect();
  try {
    await client.query("SELECT pg_backup_start('standby', fast => true)");
    await visit('');
    await copy('global/pg_control');
    const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop(wait_for_archive => false)');
    await write('backup_label', rows[0].labelfile);
  } finally {
    await client.end();
  }
  for (const name of ['pg_wal/archive_status', 'pg_wal/summaries']) await makeFolder(name);
  await write('standby.signal', '');
  return backup.passwords();
}

/** Replaying WAL can cancel a statement, which then runs again. */
async function runOnStandby(server: EmbeddedPostgres, statement: string): Promise<pg.QueryResult> {
  for (;;) {
    try {
      return await runAs(server, statement);
    } catch (error) {
      if ((error as pg.DatabaseError).code !== '40001') throw error;
    }
  }
}

async function runAs({ backup, connection }: EmbeddedPostgres, statement: string): Promise<pg.QueryResult> {
  const { host, port, database } = connection;
  const password = backup.passwords()['superuser-password'];
  const client = new pg.Client({ host, port, database, password, user: 'fieldtrace_superuser', ssl: false });
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}
