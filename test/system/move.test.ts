import { spawn } from 'node:child_process';
import { chmod, copyFile, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { migratePacketService, MOVED as PACKET } from '../../src/packet-service/app.ts';
import { queueEvents } from '../../src/packet-service/core/log/store.ts';
import { ulidToUuid } from '../../src/packet-service/core/packet-format/ulid.ts';
import { verifyDatabase } from '../../src/packet-service/maintenance/verify/verify.ts';
import { type Connection, openPool, withPool } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { moveDatabase } from '../../src/platform/database/move/move.ts';
import { startEmbeddedPostgres } from '../../src/platform/embedded-postgres/index.ts';
import { openFileStore } from '../../src/platform/files/index.ts';
import { readSettings } from '../../src/platform/settings/settings.ts';
import { migrateTraceBackend, MOVED as TRACE } from '../../src/trace-backend/app.ts';
import { upload } from '../helpers/attachments.ts';
import { administer, asService, dropDatabase, type TestDatabase, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { lackingLast, NAMES, turnBack } from '../helpers/replaced.ts';
import { type RunningService, runningService } from '../helpers/service.ts';
import { ADMIN, runningTrace } from '../helpers/trace.ts';

const { template: _, ...server } = inject('databaseServer');
const logger = pino({ level: 'silent' });
const CLI = path.resolve(import.meta.dirname, '../../dist/cli.js');

let files: Awaited<ReturnType<typeof temporaryFolder>>;
let source: TestDatabase;
const databases: string[] = [];

beforeAll(async () => {
  files = await temporaryFolder();
  source = await testDatabase();
  const [packets, trace] = await open(source.connection);
  const { body } = await packets.send('POST', '/chat/threads', { name: 'Rust', created_by: 'ana' });
  const file = (await upload(packets, 'leaf')).body.attachment_id;
  const seen = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    attachments: [file],
  };
  const observation = await packets.send('POST', '/intake/scouting', seen);
  const said = {
    thread_id: body.thread_id,
    text: 'Rost an Blättern\t\\N',
    from_user: 'ana',
    geoids: ['g', 'h'],
  };
  expect((await packets.send('POST', '/intake/chat-message', said)).status).toBe(201);
  const admin = await trace.login(ADMIN.username, ADMIN.password);
  expect((await admin.send('POST', '/api/company/create', { name: 'Umucyo' })).status).toBe(200);
  await eventually(async () => (await entries(source.connection)).logged === 2);
  await trace.stop();
  await packets.stop();
  // Committed, and not appended to the log by any process any more.
  const packetId = ulidToUuid(observation.body.packet_uuid);
  await queueEvents(source.pool, [{ kind: 'share.created', packetId, userId: 'ben', details: { a: 1 } }]);
});
afterAll(async () => {
  for (const name of databases) await dropDatabase(server, name);
  await source.drop();
  await files.remove();
});

async function open(connection: Connection) {
  const environment = { DATA_DIR: files.folder };
  const shared = { connection } as RunningService;
  return [await runningService(environment, shared), await runningTrace(environment, shared)] as const;
}

async function emptyDatabase(): Promise<Connection> {
  const database = `moved_${process.pid}_${databases.length}`;
  await administer(server, `CREATE DATABASE ${database}`);
  databases.push(database);
  return { ...server, database };
}

/** A database with the same rows as the source. */
async function copyOfSource(): Promise<Connection> {
  const copy = await emptyDatabase();
  await moveDatabase({ source: source.connection, target: copy, services: [PACKET, TRACE] });
  return copy;
}

/** The recorded migrations of both services. */
async function recordsOf(connection: Connection): Promise<{ name: string; checksum: string }[]> {
  const text = `SELECT name, checksum FROM packet_service.migrations
    UNION ALL SELECT name, checksum FROM trace_backend.migrations`;
  return query(connection, text);
}

function urlOf({ host, port, user, password, database }: Connection): string {
  const url = new URL(`postgres://${user}:${password}@localhost:${port}/${database}`);
  if (host?.startsWith('/')) url.searchParams.set('host', host);
  return url.href;
}

function startMove(from: string, to: string) {
  const env = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  } as NodeJS.ProcessEnv;
  const child = spawn(process.execPath, [CLI, 'move', '--from', from, '--to', to], { env });
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', text => {
    printed.stdout += text;
  });
  child.stderr.on('data', text => {
    printed.stderr += text;
  });
  const ended = new Promise<number | null>(resolve => child.on('close', resolve));
  return { child, printed, ended };
}

async function moved(from: string, to: string) {
  const { printed, ended } = startMove(from, to);
  return { code: await ended, ...printed };
}

async function query(connection: Connection, text: string) {
  const pool = openPool(connection, 'packet_service', 1);
  try {
    return (await pool.query(text)).rows;
  } finally {
    await pool.end();
  }
}

async function entries(connection: Connection): Promise<{ logged: number; queued: number }> {
  const [row] = await query(
    connection,
    `SELECT (SELECT count(*)::int FROM packet_log) AS logged, (SELECT count(*)::int FROM packet_log_queue) AS queued`,
  );
  return row;
}

/** Everything is there, and both services go on where they were. */
async function expectWhole(connection: Connection): Promise<void> {
  const mismatches: unknown[] = [];
  const counts = await verifyDatabase({
    connection,
    files: openFileStore(readSettings({ DATA_DIR: files.folder })),
    threads: 1,
    onMismatch: mismatch => mismatches.push(mismatch),
  });
  expect(mismatches).toEqual([]);
  expect(counts).toMatchObject({ packets: 2, messages: 1, files: 1, entries: 3 });
  expect(await entries(connection)).toEqual({ logged: 3, queued: 0 });
  await migratePacketService(asService(connection), connection);
  await migrateTraceBackend(asService(connection), connection);
  const [packets, trace] = await open(connection);
  try {
    const found = await packets.send('POST', '/chat/query', { user_id: 'ana', keyword: 'blätt' });
    expect(found.body.results).toHaveLength(1);
    const admin = await trace.login(ADMIN.username, ADMIN.password);
    const list = await admin.send('GET', '/api/company/list');
    expect(list.text).toContain('Umucyo');
  } finally {
    await trace.stop();
    await packets.stop();
  }
}

test('a database is moved completely; events in the outbox are then in the log; a second move is refused', async () => {
  const target = await emptyDatabase();
  const { code, stdout, stderr } = await moved(urlOf(source.connection), urlOf(target));
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^moved \d+ tables with \d+ rows\./)]);
  expect(stderr).toMatch(/^moved packet_service\.packets: 2 rows$/m);
  expect(await entries(source.connection)).toEqual({ logged: 2, queued: 1 });
  await expectWhole(target);
  const commands = await withPool(target, 'packet_service', pool => pool.query('SELECT command FROM audit'));
  expect(commands.rows).toEqual([{ command: 'move' }]);
  const again = await moved(urlOf(source.connection), urlOf(target));
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('into an empty database')]);
});

test('a move that was killed leaves a database that no service starts on, and is repeated', async () => {
  const target = await emptyDatabase();
  for (const after of ['packet_service.packets', 'trace_backend.users']) {
    const { child, printed, ended } = startMove(urlOf(source.connection), urlOf(target));
    child.stderr.on('data', () => {
      if (printed.stderr.includes(`moved ${after}:`)) child.kill('SIGKILL');
    });
    await ended;
    expect(child.signalCode, printed.stderr).toBe('SIGKILL');
    await expect(migratePacketService(target)).rejects.toThrow(/was not finished/);
    await expect(migrateTraceBackend(target)).rejects.toThrow(/was not finished/);
    const unfinished = await moved(urlOf(target), urlOf(await emptyDatabase()));
    expect([unfinished.code, unfinished.stderr]).toEqual([1, expect.stringContaining('unfinished move')]);
  }
  expect(await moved(urlOf(source.connection), urlOf(target))).toMatchObject({ code: 0 });
  await expectWhole(target);
});

test('a move of a database that is changed in the meantime is refused, and so is a move into itself', async () => {
  const target = await emptyDatabase();
  let written: Promise<unknown> = Promise.resolve();
  const moving = moveDatabase({
    source: source.connection,
    target,
    services: [PACKET, TRACE],
    onTable({ name }) {
      if (name !== 'packet_service.chat_threads') return;
      written = source.pool.query(`INSERT INTO chat_threads SELECT gen_random_uuid(), 'Late', 'ana', now()`);
    },
  });
  await expect(moving).rejects.toThrow(/chat_threads of the source was changed/);
  await written;
  await expect(migratePacketService(target)).rejects.toThrow(/was not finished/);
  await source.pool.query(`DELETE FROM chat_threads WHERE name = 'Late'`);
  const itself = await moved(urlOf(source.connection), urlOf(source.connection));
  expect([itself.code, itself.stderr]).toEqual([1, expect.stringContaining('different databases')]);
  const nothing = await moved(urlOf(await emptyDatabase()), urlOf(await emptyDatabase()));
  expect([nothing.code, nothing.stderr]).toEqual([1, expect.stringContaining('no tables')]);
});

test('a database of v0.1.0 is moved to the level of the baseline, and stays unchanged itself', async () => {
  const [old, target] = [await copyOfSource(), await emptyDatabase()];
  await turnBack(old);
  const before = await recordsOf(old);
  expect(await moved(urlOf(old), urlOf(target))).toMatchObject({ code: 0 });
  expect(await recordsOf(old)).toEqual(before);
  expect((await recordsOf(target)).map(({ name }) => name)).toEqual(NAMES.flat());
  expect([await migratePacketService(target), await migrateTraceBackend(target)]).toEqual([[], []]);
  await expectWhole(target);
});

test('an older database is not moved, and the target stays unchanged', async () => {
  const [old, target] = [await copyOfSource(), await emptyDatabase()];
  const query = (text: string) => withPool(target, 'public', pool => pool.query(text));
  const schemas = async () => (await query('SELECT nspname FROM pg_namespace ORDER BY 1')).rows;
  const before = await schemas();
  for (const schema of ['packet_service', 'trace_backend'] as const) {
    await turnBack(old, lackingLast(schema));
    const { code, stderr } = await moved(urlOf(old), urlOf(target));
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^fieldtrace: --from: the database is older than fieldtrace v0\.1\.0 .*; start v0/,
      ),
    ]);
    expect(await schemas()).toEqual(before);
  }
  // What an unfinished move left in the target would be removed.
  await query('CREATE SCHEMA packet_service');
  await query('CREATE TABLE packet_service.migrations (number integer, name text, checksum text)');
  await query(`INSERT INTO packet_service.migrations VALUES (-1, 'unfinished move', '')`);
  expect(await moved(urlOf(old), urlOf(target))).toMatchObject({ code: 1 });
  expect((await query('SELECT number FROM packet_service.migrations')).rows).toEqual([{ number: -1 }]);
});

test('a database is moved at its own level, of which the target gets no later migration', async () => {
  const [from, to] = [await emptyDatabase(), await emptyDatabase()];
  const { folder, remove } = await temporaryFolder();
  const migrations = pathToFileURL(`${folder}/`);
  const service = { ...PACKET, folder: migrations };
  for (const name of await readdir(PACKET.folder))
    await copyFile(new URL(name, PACKET.folder), new URL(name, migrations));
  await migrate(from, service.schema, migrations);
  await PACKET.makeJobs(from);
  await writeFile(new URL('999-later.sql', migrations), 'CREATE TABLE later (id integer);');
  await moveDatabase({ source: from, target: to, services: [service] });
  expect(await migrate(to, service.schema, migrations)).toEqual(['999-later.sql']);
  expect(await migrate(from, service.schema, migrations)).toEqual(['999-later.sql']);
  await moveDatabase({ source: from, target: await emptyDatabase(), services: [service] });
  await expect(
    moveDatabase({ source: from, target: await emptyDatabase(), services: [PACKET] }),
  ).rejects.toThrow(/^--from: the database has migration 999-later\.sql of a newer fieldtrace/);
  await remove();
});

test('a database goes from a server into a DATA_DIR and back, also where only another version can start it', async () => {
  const { folder, remove } = await temporaryFolder();
  await chmod(folder, 0o755);
  const dataDir = path.join(folder, 'data');
  try {
    expect(await moved(urlOf(source.connection), dataDir)).toMatchObject({ code: 0 });
    const back = await emptyDatabase();
    expect(await moved(dataDir, urlOf(back))).toMatchObject({ code: 0 });
    await expectWhole(back);

    const version = path.join(dataDir, 'postgres/data/PG_VERSION');
    const running = await startEmbeddedPostgres({ dataDir, logger });
    const other = await emptyDatabase();
    try {
      await writeFile(version, '17\n');
      expect(await moved(dataDir, urlOf(other))).toMatchObject({ code: 0 });
    } finally {
      await writeFile(version, '18\n');
      await running.stop();
    }
    await expectWhole(other);
    await writeFile(version, '17\n');
    const stopped = await moved(dataDir, urlOf(await emptyDatabase()));
    expect([stopped.code, stopped.stderr]).toEqual([
      1,
      expect.stringContaining('start the fieldtrace version that created it'),
    ]);
  } finally {
    await remove();
  }
});
