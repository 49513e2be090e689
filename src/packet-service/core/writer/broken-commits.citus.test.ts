import fastify from 'fastify';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { runningService } from '../../../../test/helpers/service.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { Server } from '../../../platform/http/server.ts';
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

/** Leaves a part of a transaction on a worker, as a commit that broke does. */
async function prepare(): Promise<void> {
  await worker.query('BEGIN');
  await worker.query(`PREPARE TRANSACTION '${GID}'`);
}

async function isPrepared(): Promise<boolean> {
  return (await worker.query('SELECT FROM pg_prepared_xacts WHERE gid = $1', [GID])).rowCount === 1;
}

/** Unless the coordinator was faster: nothing of its own belongs to this transaction. */
async function finish(): Promise<void> {
  await worker.query(`ROLLBACK PREPARED '${GID}'`).catch(() => {});
}

/** The database, wrapped to count its statements. */
function counting(): { database: Database; looks: () => number } {
  let looks = 0;
  return {
    looks: () => looks,
    database: {
      query(statement) {
        looks++;
        return database.pool.query(statement);
      },
    },
  };
}

const logger = pino({ level: 'silent' });

test('answers to writes wait until a worker has finished a commit that broke there, reads do not', async () => {
  const counted = counting();
  const commits = brokenCommits(() => counted.database, logger);
  const app = fastify() as unknown as Server;
  commits.holdAnswers(app);
  app.post('/write', async () => ({}));
  app.get('/read', async () => ({}));

  commits.onNotice('something else', PID);
  expect((await app.inject({ method: 'POST', url: '/write' })).statusCode).toBe(200);
  expect(counted.looks()).toBe(0);

  await prepare();
  commits.onNotice('failed to commit transaction on 127.0.0.1:1', PID);
  let sawPrepared = true;
  const answered = app.inject({ method: 'POST', url: '/write' }).then(async ({ statusCode }) => {
    sawPrepared = await isPrepared();
    return statusCode;
  });
  expect((await app.inject({ method: 'GET', url: '/read' })).statusCode).toBe(200);
  expect(await isPrepared()).toBe(true);
  await eventually(() => counted.looks() > 0);
  await finish();
  expect(await answered).toBe(200);
  expect(sawPrepared).toBe(false);
  await app.close();
});

test('a commit that broke is waited for, and not what its session commits after it', async () => {
  const counted = counting();
  const commits = brokenCommits(() => counted.database, logger);
  const app = fastify() as unknown as Server;
  commits.holdAnswers(app);
  app.post('/write', async () => ({}));
  commits.onNotice('failed to commit transaction on 127.0.0.1:1', PID + 1);
  await prepare();
  expect((await app.inject({ method: 'POST', url: '/write' })).statusCode).toBe(200);
  expect(counted.looks()).toBe(1);
  await finish();
  await app.close();
});

test('the answer to a repeated request waits until what the first one stored can be read', async () => {
  const service = await runningService({}, { connection: database.connection, pool: database.pool });
  const observation = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
    message: 'once',
  };
  const requests: [path: string, body: unknown][] = [
    ['/intake/scouting', observation],
    ['/intake/batch', [{ intake: 'scouting', body: observation }]],
    ['/chat/threads', { name: 'once', created_by: 'amina' }],
  ];
  for (const [path, body] of requests) {
    const send = () => service.send('POST', path, body, { 'idempotency-key': 'once' });
    const first = await send();
    expect(first.status, first.text).toBeLessThan(300);
    await prepare();
    let sawPrepared = true;
    const again = send().then(async answer => {
      sawPrepared = await isPrepared();
      return answer;
    });
    await eventually(async () => !(await isPrepared()));
    expect((await again).text).toBe(first.text);
    expect(sawPrepared, path).toBe(false);
  }
  await service.stop();
});
