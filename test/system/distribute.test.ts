import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldtrace } from '../helpers/backup.ts';
import { type TestDatabase, testDatabase } from '../helpers/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

function distribute(...words: string[]) {
  const { host, port, user, password, database: name } = database.connection;
  const url = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
  return fieldtrace({ DATABASE_URL: url }, 'distribute', ...words);
}

test('a server without Citus stays unchanged', async () => {
  expect(await distribute('--dry-run')).toMatchObject({
    code: 1,
    err: expect.stringContaining('Citus is not installed on the server'),
  });
  expect(await distribute('--status')).toEqual({
    code: 0,
    out: 'the database lacks the extension citus, so nothing is distributed\n',
    err: '',
  });
});

test('invalid addresses and numbers are refused by option', async () => {
  expect(await distribute('--workers', 'db1')).toMatchObject({
    code: 2,
    err: 'fieldtrace: --workers must be host:port,host:port,…, each once\n',
  });
  expect(await distribute('--shards', '0')).toMatchObject({
    code: 2,
    err: 'fieldtrace: --shards must be a whole number from 1 to 1024\n',
  });
});
