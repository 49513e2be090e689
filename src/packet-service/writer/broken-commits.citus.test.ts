import fastify from 'fastify';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import type { Server } from '../../platform/http/server.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { brokenCommits } from './broken-commits.ts';

let database: TestDatabase;
let worker: pg.Client;
beforeAll(async () => {
  database = await testDatabase();
  const { workers = [], administrator } = inject('databaseServer').cluster ?? {};
  worker = new pg.Client({ ...administrator, ...workers[0], database: database.connection.database });
  await worker.connect();
});
afterAll(async () => {
  await worker.end();
  await database.drop();
});

/** No session of this server. */
const PID = 4_000_000;
const GID = `citus_0_${PID}_1_0`;

test('answers to writes wait until a worker has finished a commit that broke there, reads do not', async () => {
  let looks = 0;
  const counted: Database = {
    query(statement) {
      looks++;
      return database.pool.query(statement);
    },
  };
  const logger = pino({ level: 'silent' });
  const commits = brokenCommits(() => counted, logger);
  const app = fastify() as unknown as Server;
  commits.holdAnswers(app);
  app.post('/write', async () => ({}));
  app.get('/read', async () => ({}));

  commits.onNotice('something else', PID);
  expect((await app.inject({ method: 'POST', url: '/write' })).statusCode).toBe(200);
  expect(looks).toBe(0);

  await worker.query('BEGIN');
  await worker.query(`PREPARE TRANSACTION '${GID}'`);
  commits.onNotice('failed to commit transaction on 127.0.0.1:1', PID);
  const isPrepared = async () =>
    (await worker.query('SELECT FROM pg_prepared_xacts WHERE gid = $1', [GID])).rowCount === 1;
  let sawPrepared = true;
  const answered = app.inject({ method: 'POST', url: '/write' }).then(async ({ statusCode }) => {
    sawPrepared = await isPrepared();
    return statusCode;
  });
  expect((await app.inject({ method: 'GET', url: '/read' })).statusCode).toBe(200);
  expect(await isPrepared()).toBe(true);
  await eventually(() => looks > 0);
  // Unless the coordinator was faster: nothing of its own belongs to this transaction.
  await worker.query(`ROLLBACK PREPARED '${GID}'`).catch(() => {});
  expect(await answered).toBe(200);
  expect(sawPrepared).toBe(false);
  await app.close();
});
