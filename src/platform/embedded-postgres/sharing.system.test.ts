import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import {
  isAlive,
  makeTable,
  postmasterOf,
  query,
  spawnHolder,
  stageDatabase,
  stageDirectory,
  startHere,
  startHolder,
  until,
} from './fixtures/stage.ts';

const pidFile = (dataDir: string) => join(dataDir, 'postgres/data/postmaster.pid');

test('a server that a kill -9 of its whole process group left running is adopted, and stopped, by the next start', async () => {
  const dataDir = await stageDatabase();
  const killed = await startHolder(dataDir);
  const postmaster = postmasterOf(dataDir);
  // The group is what a Ctrl-C and a closed terminal reach.
  process.kill(-(killed.child.pid as number), 'SIGKILL');
  await once(killed.child, 'close');
  expect(isAlive(postmaster)).toBe(true);

  const next = await startHolder(dataDir);
  expect(next.connection).toEqual(killed.connection);
  expect(postmasterOf(dataDir)).toBe(postmaster);
  expect(await query(next.connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);

  expect(await next.finish()).toBe(0);
  expect(isAlive(postmaster)).toBe(false);
});

test('a server that was killed together with its fieldtrace replays its log at the next start', async () => {
  const dataDir = await stageDatabase();
  const killed = await startHolder(dataDir);
  await query(killed.connection, 'INSERT INTO kept SELECT generate_series(1, 1000)');
  process.kill(killed.child.pid as number, 'SIGKILL');
  await once(killed.child, 'close');
  process.kill(postmasterOf(dataDir), 'SIGKILL');

  const { connection } = await startHere(dataDir);
  expect(await query(connection, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 1001 }]);
});

test('exactly one process restarts a server that dies while in use, and all pools continue', async () => {
  const dataDir = await stageDatabase();
  const sharers = await Promise.all([startHolder(dataDir), startHolder(dataDir), startHolder(dataDir)]);
  const pool = new pg.Pool(sharers[0]?.connection);
  pool.on('error', () => {});
  onTestFinished(() => pool.end());
  const before = postmasterOf(dataDir);
  const starts = () =>
    sharers.flatMap(({ log }) => log).filter(line => line.includes('"started PostgreSQL"')).length;
  expect(starts()).toBe(1);

  process.kill(before, 'SIGKILL');
  await until('the pool finds the server again', async () => {
    const found = await pool.query('SELECT seven FROM kept').catch(() => undefined);
    // A session of the old server may give its last answer.
    return found?.rows[0].seven === 7 && postmasterOf(dataDir) !== before;
  });
  await until('every process is back', () =>
    sharers.every(({ log }) => log.some(line => line.includes('"PostgreSQL is back"'))),
  );
  expect(starts()).toBe(2);
  for (const { log } of sharers)
    expect(log.filter(line => line.includes('"lost PostgreSQL'))).toHaveLength(1);

  expect(await Promise.all(sharers.map(sharer => sharer.finish()))).toEqual([0, 0, 0]);
  expect(existsSync(pidFile(dataDir))).toBe(false);
});

test('a server that cannot be started again is tried until it can, and nobody has to wait for it to stop', async () => {
  const dataDir = await stageDatabase();
  const [waiting, leaving] = [await startHolder(dataDir), await startHolder(dataDir)];
  const configuration = join(dataDir, 'postgres/data/postgresql.conf');
  const before = readFileSync(configuration, 'utf8');
  writeFileSync(configuration, 'no_such_setting = 1');
  process.kill(postmasterOf(dataDir), 'SIGKILL');

  for (const { log } of [waiting, leaving]) {
    await until('the trouble is told', () => log.some(line => line.includes('contains errors; its log is')));
  }
  expect(await leaving.finish()).toBe(0);

  writeFileSync(configuration, before);
  await until('the server is back', () => waiting.log.some(line => line.includes('"PostgreSQL is back"')));
  expect(await query(waiting.connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
});

test('sessions that crash one after the other end each other and not the server: it is found again at once each time', async () => {
  const dataDir = await stageDatabase();
  const holder = await startHolder(dataDir);
  const postmaster = postmasterOf(dataDir);
  const isBack = (times: number) =>
    holder.log.filter(line => line.includes('"PostgreSQL is back"')).length === times;
  for (let times = 1; times <= 4; times++) {
    const crashing = new pg.Client(holder.connection);
    crashing.on('error', () => {});
    await crashing.connect();
    const { rows } = await crashing.query('SELECT pg_backend_pid() AS pid');
    process.kill(rows[0].pid, 'SIGKILL');
    await until('the supervisor is back', () => isBack(times));
  }
  expect(postmasterOf(dataDir)).toBe(postmaster);
  expect(holder.log.filter(line => line.includes('pausing before the restart'))).toEqual([]);
  expect(await holder.finish()).toBe(0);
});

test('a server that somebody else stops while it is used is waited for and started again', async () => {
  const dataDir = await stageDatabase();
  const { connection } = await startHere(dataDir);
  const before = postmasterOf(dataDir);
  process.kill(before, 'SIGINT');
  await until('another server answers', async () => {
    const rows = await query(connection, 'SELECT 1').catch(() => []);
    return rows.length === 1 && postmasterOf(dataDir) !== before;
  });
});

test('two processes that start at once on a fresh DATA_DIR make one database and share one server', async () => {
  const dataDir = stageDirectory();
  const [first, second] = await Promise.all([startHolder(dataDir), startHolder(dataDir)]);
  expect(first.refused ?? second.refused).toBe(undefined);
  expect(first.connection).toEqual(second.connection);
  await makeTable(first);
  expect(await query(second.connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
  const made = [...first.log, ...second.log].filter(line => line.includes('created a database'));
  expect(made).toHaveLength(1);
});

test('the first of two to stop leaves the server to the other, no matter which one started it; the last one stops it', async () => {
  const dataDir = await stageDatabase();
  const first = await startHolder(dataDir);
  const second = await startHolder(dataDir);
  const postmaster = postmasterOf(dataDir);

  expect(await first.finish()).toBe(0);
  expect(first.log.join()).toContain('left PostgreSQL to the other fieldtrace processes');
  expect(postmasterOf(dataDir)).toBe(postmaster);
  expect(await query(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);

  expect(await second.finish()).toBe(0);
  expect(second.log.join()).toContain('stopped PostgreSQL');
  expect(isAlive(postmaster)).toBe(false);
});

test('a process that was killed does not count as one that uses the server', async () => {
  const dataDir = await stageDatabase();
  const killed = await startHolder(dataDir);
  const staying = await startHolder(dataDir);
  const postmaster = postmasterOf(dataDir);
  killed.child.kill('SIGKILL');
  await once(killed.child, 'close');
  expect(await staying.finish()).toBe(0);
  expect(isAlive(postmaster)).toBe(false);
});

test('processes that start and stop repeatedly each find a server for as long as they need one', async () => {
  const dataDir = await stageDatabase();
  const rounds = 8;
  const visitors = [0, 1, 2].map(() => spawnHolder(dataDir, { rounds }));
  const codes = await Promise.all(visitors.map(({ ended }) => ended));
  const stopped = visitors.flatMap(({ log }) => log).filter(line => line.includes('"stopped PostgreSQL"'));
  expect(codes).toEqual([0, 0, 0]);
  // Otherwise the story was not told: nobody ever stopped it for another one to start it.
  expect(stopped.length).toBeGreaterThan(0);
  expect(existsSync(pidFile(dataDir))).toBe(false);

  const { connection } = await startHere(dataDir);
  const visits = await query(connection, 'SELECT count(*)::int AS visits FROM visits');
  expect(visits).toEqual([{ visits: 3 * rounds }]);
});

test('two users within one process count as two', async () => {
  const dataDir = await stageDatabase();
  const first = await startHere(dataDir);
  const second = await startHere(dataDir);
  await first.stop();
  expect(await query(second.connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
  await second.stop();
  expect(existsSync(pidFile(dataDir))).toBe(false);
});
