import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import { openRelay, type Relay } from '../../../test/helpers/relay.ts';
import { ADVISORY_LOCKS } from './locks/advisory-locks.ts';
import { migrate } from './migrate.ts';

const SHORT = { ms: 1000, of: 'statement' } as const;
const missed = { code: 'ETIMEDOUT', message: 'the database did not answer within 1 s' };

let database: TestDatabase;
let relay: Relay;
let folder: URL;
let remove: () => Promise<void>;
beforeAll(async () => {
  database = await testDatabase();
  relay = await openRelay(database.connection);
  const temporary = await temporaryFolder();
  remove = temporary.remove;
  const migrations = path.join(temporary.folder, 'migrations');
  await mkdir(migrations);
  await writeFile(path.join(migrations, '001-first.sql'), 'CREATE TABLE first ();');
  folder = pathToFileURL(`${migrations}/`);
});
beforeEach(() => relay.heal());
afterAll(async () => {
  await relay.close();
  await database.drop();
  await remove();
});

test('a migration that waits for another process` for too long ends with an error, and leaves nothing behind', async () => {
  const holder = await database.pool.connect();
  await holder.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.migrate]);
  await expect(migrate(relay.connection, 'hung', folder, { deadline: SHORT })).rejects.toMatchObject(missed);
  await holder.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.migrate]);
  holder.release();
  expect(await migrate(relay.connection, 'hung', folder, { deadline: SHORT })).toEqual(['001-first.sql']);
  expect(await migrate(relay.connection, 'hung', folder, { deadline: SHORT })).toEqual([]);
});

test('a database that accepts the connection but never answers does not block the start', async () => {
  relay.blackHole();
  await expect(migrate(relay.connection, 'dark', folder, { deadline: SHORT })).rejects.toThrow(/timeout/);
});
