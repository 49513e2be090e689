import { afterAll, beforeAll, expect, test } from 'vitest';
import { fieldtrace } from './helpers/backup.ts';
import { type TestDatabase, testDatabase } from './helpers/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

test('a command reports on standard output and exits with 0; a wrong one prints one sentence and exits with 2', async () => {
  const { host, port, user, password, database: name } = database.connection;
  const url = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
  expect(await fieldtrace({ DATABASE_URL: url }, 'verify')).toMatchObject({
    code: 0,
    out: expect.stringContaining('nothing differs'),
    err: '',
  });
  const help = await fieldtrace({}, 'help');
  expect(help).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^usage:\n {2}fieldtrace start\n/),
    err: '',
  });
  expect(await fieldtrace({}, 'kyes', 'rotate')).toEqual({
    code: 2,
    out: '',
    err: 'fieldtrace: unknown command kyes; did you mean keys rotate?\n',
  });
});
