import { spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  isAlive,
  isRoot,
  postmasterOf,
  query,
  spawnHolder,
  stageDatabase,
  stageDirectory,
  startHere,
  until,
} from './fixtures/stage.ts';
import { rotateLog } from './launch.ts';
import { prepareLayout } from './layout.ts';

const mode = (path: string) => statSync(path).mode & 0o777;

test('the first start creates a database, and a role for the services that owns nothing in it', async () => {
  const dataDir = join(stageDirectory(), 'not', 'yet', 'there');
  const { connection, owner } = await startHere(dataDir);

  const [role] = await query(
    connection,
    `SELECT current_user AS name, rolsuper, rolcreatedb, rolcreaterole, pg_get_userbyid(datdba) AS owner,
            datname, datlocprovider, datlocale, pg_encoding_to_char(encoding) AS encoding
     FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
  );
  expect(role).toEqual({
    name: 'fieldtrace',
    rolsuper: false,
    rolcreatedb: false,
    rolcreaterole: false,
    owner: 'fieldtrace_owner',
    datname: 'fieldtrace',
    datlocprovider: 'b',
    datlocale: 'C.UTF-8',
    encoding: 'UTF8',
  });

  const durable = await query(
    connection,
    "SELECT setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')",
  );
  expect(durable).toEqual([{ setting: 'on' }, { setting: 'on' }, { setting: 'on' }]);

  await query(owner, 'CREATE EXTENSION pg_trgm');
  const [letters] = await query(
    connection,
    "SELECT show_trgm('नमस्ते') <> '{}' AS hindi, show_trgm('玉米地') <> '{}' AS chinese",
  );
  expect(letters).toEqual({ hindi: true, chinese: true });
});

test('only their owner may read the files and enter the directories that hold something', async () => {
  const dataDir = await stageDatabase();
  await startHere(dataDir);
  const home = join(dataDir, 'postgres');
  for (const name of ['data', 'socket']) expect(mode(join(home, name)), name).toBe(0o700);
  for (const name of ['password', 'owner-password', 'superuser-password', 'server.log', 'users.lock']) {
    expect(mode(join(home, name)), name).toBe(0o600);
  }
});

test('a password that is not the right one is refused, also on this machine', async () => {
  const { connection } = await startHere(await stageDatabase());
  await expect(query({ ...connection, password: 'guess' }, 'SELECT 1')).rejects.toThrow(
    /password authentication failed/,
  );
});

test('stopping ends the server, twice is as good as once, and the next start finds the data and the password again', async () => {
  const dataDir = await stageDatabase();
  const first = await startHere(dataDir);
  await query(first.connection, 'INSERT INTO kept VALUES (8)');
  const postmaster = postmasterOf(dataDir);
  await Promise.all([first.stop(), first.stop()]);
  await first.stop();
  expect(isAlive(postmaster)).toBe(false);
  expect(existsSync(join(dataDir, 'postgres/data/postmaster.pid'))).toBe(false);

  const second = await startHere(dataDir);
  expect(second.connection).toEqual(first.connection);
  expect(await query(second.connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }, { seven: 8 }]);
});

test('a DATA_DIR whose path is too long for a socket, with blanks, commas and quotes, has its socket under /tmp', async () => {
  const dataDir = join(stageDirectory(), 'a "quoted", very long path '.repeat(4));
  const first = await startHere(dataDir);
  const { host } = first.connection;
  onTestFinished(() => rmSync(host, { recursive: true, force: true }));
  expect(host).toMatch(/\/tmp\/fieldtrace-[0-9a-f]{20}$/);
  expect(await query(first.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await first.stop();
  expect(existsSync(host)).toBe(false);

  // Somebody else could make this directory, to be told the password.
  mkdirSync(host);
  chmodSync(host, 0o777);
  writeFileSync(join(host, 'trap'), '');
  await expect(startHere(dataDir)).rejects.toThrow(
    `${host}, for the server's socket, must be a directory that user`,
  );
});

test('a postmaster.pid left behind does not stop the start when its pid is somebody else by now', async () => {
  const dataDir = await stageDatabase();
  const cluster = join(dataDir, 'postgres/data');
  const { uid, gid } = statSync(cluster);
  // Of the server's own user: only then does PostgreSQL itself take it for a server.
  const stranger = spawn('sleep', ['600'], isRoot ? { uid, gid } : {});
  onTestFinished(() => void stranger.kill());
  for (const file of [join(cluster, 'postmaster.pid'), join(dataDir, 'postgres/socket/.s.PGSQL.5432.lock')]) {
    writeFileSync(
      file,
      `${stranger.pid}\n${cluster}\n1700000000\n5432\n/nowhere\n\n  5432001         7\nready   \n`,
    );
    chmodSync(file, 0o600);
    if (isRoot) chownSync(file, uid, gid);
  }

  const { connection, stop } = await startHere(dataDir);
  expect(await query(connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
  await stop();
  expect(stranger.exitCode).toBe(null);
  expect(stranger.signalCode).toBe(null);
});

test('an empty postmaster.pid, as a power cut leaves it, does not stop the start', async () => {
  const dataDir = await stageDatabase();
  const file = join(dataDir, 'postgres/data/postmaster.pid');
  writeFileSync(file, '');
  utimesSync(file, 1_700_000_000, 1_700_000_000);
  const { connection } = await startHere(dataDir);
  expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a kill in the middle of initdb leaves nothing that the next start could take for a database', async () => {
  const dataDir = stageDirectory();
  const home = join(dataDir, 'postgres');
  const unfinished = () =>
    existsSync(home) ? readdirSync(home).filter(name => name.startsWith('new-')) : [];
  const { child, ended } = spawnHolder(dataDir, {});
  await until('initdb writes', () => unfinished().some(name => existsSync(join(home, name, 'data/base'))));
  child.kill('SIGKILL');
  await ended;
  expect(unfinished()).toHaveLength(1);
  expect(existsSync(join(home, 'data'))).toBe(false);

  const { connection, stop } = await startHere(dataDir);
  expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await stop();
  // The initdb that lost its parent may have written until now.
  await until('what it wrote is gone', async () => {
    await (await startHere(dataDir)).stop();
    return unfinished().length === 0;
  });
});

test('the log stays bounded, also under a server that runs', async () => {
  const dataDir = await stageDatabase();
  const layout = prepareLayout(dataDir);
  truncateSync(layout.log, 20_000_000);
  const { connection } = await startHere(dataDir);
  expect(statSync(layout.log).size).toBeLessThan(100_000);
  expect(statSync(`${layout.log}.1`).size).toBe(20_000_000);

  truncateSync(layout.log, 30_000_000);
  rotateLog(layout);
  await expect(query({ ...connection, password: 'guess' }, 'SELECT 1')).rejects.toThrow();
  await until('the server writes where the log now ends', () => {
    const text = readFileSync(layout.log, 'utf8');
    return text.includes('password authentication failed') && text.length < 100_000;
  });
  expect(statSync(`${layout.log}.1`).size).toBe(30_000_000);
});
