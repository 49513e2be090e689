import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mountTmpfs, query, stageDatabase, stageDirectory, startHere } from './fixtures/stage.ts';
import { EmbeddedPostgresError } from './index.ts';

/** The one sentence that a start is refused with. */
async function refusalOf(dataDir: string): Promise<string> {
  const error = await startHere(dataDir).then(
    () => undefined,
    error => error,
  );
  expect(error).toBeInstanceOf(EmbeddedPostgresError);
  expect(error.message).toMatch(/^[^\n]+\.$/);
  return error.message;
}

function remount(path: string, options: string): void {
  execFileSync('mount', ['-o', `remount,${options}`, path]);
}

/** Fills a file system to the last byte; gives the file to remove. */
function fill(directory: string): string {
  const file = join(directory, 'filling');
  for (let size = 1 << 20; size > 0; size >>= 1) {
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
  return file;
}

async function isWell(dataDir: string): Promise<void> {
  const { connection } = await startHere(dataDir);
  expect(await query(connection, 'SELECT seven FROM kept')).toEqual([{ seven: 7 }]);
}

test('a DATA_DIR that is a file, or is under one', async () => {
  const file = join(stageDirectory(), 'file');
  writeFileSync(file, '');
  expect(await refusalOf(file)).toBe(
    `DATA_DIR ${file} cannot be used: a file is where a directory is needed at ${file} (EEXIST).`,
  );
  expect(await refusalOf(join(file, 'data'))).toBe(
    `DATA_DIR ${file}/data cannot be used: a file is where a directory is needed at ${file} (EEXIST).`,
  );
});

test('a DATA_DIR on a file system that is read-only', async context => {
  const dataDir = join(stageDirectory(), 'mount');
  mountTmpfs(context, dataDir, 'ro');
  expect(await refusalOf(dataDir)).toBe(
    `DATA_DIR ${dataDir} cannot be used: the file system is read-only at ${dataDir}/postgres (EROFS).`,
  );
});

test('a file system that has become read-only under a database', async context => {
  const dataDir = join(stageDirectory(), 'mount');
  mountTmpfs(context, dataDir, 'size=128m');
  await stageDatabase(dataDir);
  remount(dataDir, 'ro');
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ cannot be used: the file system is read-only at \S+ \(EROFS\)\.$/,
  );
});

test('a disk that is full from the beginning', async context => {
  const dataDir = join(stageDirectory(), 'mount');
  mountTmpfs(context, dataDir, 'size=64k');
  fill(dataDir);
  expect(await refusalOf(dataDir)).toMatch(/^DATA_DIR \S+ cannot be used: the disk is full/);
});

test('a disk that becomes full while the database is created, and works once there is space', async context => {
  const dataDir = join(stageDirectory(), 'mount');
  mountTmpfs(context, dataDir, 'size=24m');
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ cannot be used: the disk is full \(initdb failed: .+\)\.$/,
  );
  remount(dataDir, 'size=128m');
  const { connection } = await startHere(dataDir);
  expect(await query(connection, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
});

test('a disk that became full under a database, which recovers once there is space', async context => {
  const dataDir = join(stageDirectory(), 'mount');
  mountTmpfs(context, dataDir, 'size=128m');
  await stageDatabase(dataDir);
  const filling = fill(dataDir);
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ cannot be used: the disk is full \(PostgreSQL failed: .+\)\.$/,
  );
  rmSync(filling);
  await isWell(dataDir);
});

test('a database of another major version of PostgreSQL, which stays as it is', async () => {
  const dataDir = await stageDatabase();
  const file = join(dataDir, 'postgres/data/PG_VERSION');
  const ours = readFileSync(file, 'utf8');
  writeFileSync(file, '15\n');
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ contains a database of PostgreSQL 15, but this version includes PostgreSQL \d+: .*nothing was changed\.$/,
  );
  expect(readFileSync(file, 'utf8')).toBe('15\n');
  writeFileSync(file, ours);
  await isWell(dataDir);
});

test('a data directory that contains something else', async () => {
  const dataDir = stageDirectory();
  mkdirSync(join(dataDir, 'postgres/data'), { recursive: true });
  writeFileSync(join(dataDir, 'postgres/data/letter.txt'), '');
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ cannot be used: \S+ exists but contains no database; .*\.$/,
  );
});

test('a database that is gone, until it is back', async () => {
  const dataDir = await stageDatabase();
  const data = join(dataDir, 'postgres/data');
  renameSync(data, `${data}-elsewhere`);
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ cannot be used: its database is gone from \S+; mount its disk .*\.$/,
  );
  expect(existsSync(data)).toBe(false);
  renameSync(`${data}-elsewhere`, data);
  await isWell(dataDir);
});

test('a database whose password is lost, until it is found again', async () => {
  const dataDir = await stageDatabase();
  const password = join(dataDir, 'postgres/superuser-password');
  renameSync(password, `${password}.elsewhere`);
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ contains a database but not its password, \S+: .*\.$/,
  );
  writeFileSync(password, 'another');
  expect(await refusalOf(dataDir)).toMatch(
    /^PostgreSQL in DATA_DIR \S+ rejected its supervisor \(password authentication failed .*superuser-password .*\.$/,
  );
  renameSync(`${password}.elsewhere`, password);
  await isWell(dataDir);
});

test('a server that does not start says why, with the line of its log and where to read on', async () => {
  const dataDir = await stageDatabase();
  const configuration = join(dataDir, 'postgres/data/postgresql.conf');
  const before = readFileSync(configuration, 'utf8');
  appendFileSync(configuration, 'no_such_setting = 1\n');
  expect(await refusalOf(dataDir)).toMatch(
    /^DATA_DIR \S+ cannot be used: PostgreSQL failed: configuration file ".*" contains errors; its log is \S+server\.log\.$/,
  );
  writeFileSync(configuration, before);
  await isWell(dataDir);
});
