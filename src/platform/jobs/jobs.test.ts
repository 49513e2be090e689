import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { eventually } from '../../../test/helpers/eventually.ts';
import { openRelay } from '../../../test/helpers/relay.ts';
import { transaction } from '../database/database.ts';
import type { Attempt } from './job-worker.ts';
import { type JobRules, type Jobs, openJobs, prepareJobs } from './jobs.ts';
import { countJobs, findRetries } from './store.ts';

const SCHEMA = 'test_jobs';
const logger = pino({ level: 'silent' });
const rules: JobRules = {
  tries: 3,
  retrySeconds: 1,
  maxRetrySeconds: 2,
  attemptSeconds: 30,
  deadLetter: 'dead',
};

let database: TestDatabase;
let queue: string;
let count = 0;
beforeAll(async () => {
  database = await testDatabase();
});
beforeEach(async () => {
  queue = `queue-${count++}`;
  await prepareJobs(database.connection, SCHEMA, ['dead', queue]);
});
afterEach(() => void vi.useRealTimers());
afterAll(() => database.drop());

interface Work {
  n: number;
}

function open(handle?: (attempt: Attempt<Work>) => Promise<void>, concurrency = 5): Jobs {
  const jobs = openJobs(database.connection, SCHEMA, logger);
  if (handle) jobs.work<Work>(queue, concurrency, handle);
  jobs.start();
  return jobs;
}

const send = (jobs: Jobs, ...numbers: number[]) =>
  jobs.send(
    database.pool,
    queue,
    rules,
    numbers.map(n => ({ n })),
  );

test('a job exists when its transaction has committed, and not before; a rolled back one never did', async () => {
  const done: number[] = [];
  const jobs = open(async ({ data }) => {
    done.push(data.n);
  });
  const refused = transaction(database.pool, async inside => {
    await jobs.send(inside, queue, rules, [{ n: 1 }]);
    throw new Error('undone');
  });
  await expect(refused).rejects.toThrow('undone');

  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const { promise: sent, resolve: hasSent } = Promise.withResolvers<void>();
  const open2 = transaction(database.pool, async inside => {
    await jobs.send(inside, queue, rules, [{ n: 2 }]);
    hasSent();
    await held;
  });
  await sent;
  await send(jobs, 3);
  jobs.wake();
  await eventually(() => done.includes(3));
  expect(done).toEqual([3]);
  release();
  await open2;
  jobs.wake();
  await eventually(() => done.length === 2);
  expect(done).toEqual([3, 2]);
  await jobs.stop();
});

test('a failing job is tried as often as its rules say, then becomes a dead letter', async () => {
  const attempts: number[] = [];
  const dead: number[] = [];
  const jobs = openJobs(database.connection, SCHEMA, logger);
  jobs.work<Work>(queue, 5, async ({ data }) => {
    attempts.push(data.n);
    if (data.n === 1 || (data.n === 2 && attempts.filter(n => n === 2).length < 3))
      throw new Error('not now');
  });
  jobs.work<Work>('dead', 5, async ({ data }) => {
    dead.push(data.n);
  });
  jobs.start();
  await send(jobs, 1, 2, 3);
  await eventually(() => dead.length === 1 && attempts.length === 7);
  expect(attempts.toSorted()).toEqual([1, 1, 1, 2, 2, 2, 3]);
  expect(dead).toEqual([1]);
  await jobs.stop();
});

test('jobs that wait for another attempt are counted at once, also while none is in progress', async () => {
  const jobs = open(async () => {
    throw new Error('the receiver is away');
  });
  const before = Date.now();
  await jobs.send(database.pool, queue, { ...rules, retrySeconds: 3600, maxRetrySeconds: 3600 }, [
    { n: 1 },
    { n: 2 },
  ]);
  const counted = async () => (await countJobs(database.pool, SCHEMA)).find(entry => entry.queue === queue);
  const retries = await eventually(
    () => findRetries(database.pool, SCHEMA, queue),
    found => found?.jobs === 2,
  );
  expect(retries).toMatchObject({ jobs: 2, error: 'the receiver is away', doneAt: null });
  expect(await counted()).toEqual({ queue, waiting: 2, active: 0 });
  expect(retries?.since.getTime()).toBeGreaterThan(before - 1000);
  expect(retries?.triedAt.getTime()).toBeGreaterThanOrEqual(retries?.since.getTime() as number);
  await jobs.stop();
});

test('at most the requested number of jobs run at once, and a hung one blocks no other', async () => {
  const running = new Map<number, () => void>();
  let most = 0;
  const done = new Set<number>();
  const jobs = open(async ({ data }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    running.set(data.n, resolve);
    most = Math.max(most, running.size);
    await promise;
    running.delete(data.n);
    done.add(data.n);
  }, 4);
  await send(jobs, ...Array.from({ length: 30 }, (_, n) => n + 1));
  jobs.wake();
  // Each time that all slots are taken, one of the jobs ends; the first one hangs.
  while (done.size < 29) {
    await eventually(() => running.size === Math.min(4, 30 - done.size));
    const [finish] = [...running].filter(([n]) => n !== 1).map(([, end]) => end);
    const before = done.size;
    finish?.();
    await eventually(() => done.size > before);
  }
  expect(done).not.toContain(1);
  running.get(1)?.();
  await eventually(() => done.size === 30);
  expect(most).toBe(4);
  await jobs.stop();
});

test('an attempt that outlasts its time is broken off and tried again', async () => {
  const signals: AbortSignal[] = [];
  const jobs = open(async ({ signal }) => {
    signals.push(signal);
    if (signals.length === 1) await new Promise(() => {});
  });
  await jobs.send(database.pool, queue, { ...rules, attemptSeconds: 1 }, [{ n: 1 }]);
  jobs.wake();
  await eventually(() => signals.length === 2);
  expect(signals[0]?.aborted).toBe(true);
  await jobs.stop();
});

test('a stop returns unfinished jobs to the queue, signals them, and the next start runs them', async () => {
  let signal: AbortSignal | undefined;
  const first = open(async attempt => {
    signal = attempt.signal;
    await new Promise(() => {});
  });
  await send(first, 1);
  first.wake();
  await eventually(() => signal);
  await first.stop();
  expect(signal?.aborted).toBe(true);

  const done: number[] = [];
  const second = open(async ({ data }) => {
    done.push(data.n);
  });
  await eventually(() => done.length === 1);
  await second.stop();
});

/** Rows of the queue's own tables, each with the transaction that wrote it last. */
async function bookkeeping(): Promise<unknown[]> {
  const { rows } = await database.pool.query(
    `SELECT xmin::text, name FROM ${SCHEMA}.queue UNION ALL SELECT xmin::text, 'version' FROM ${SCHEMA}.version`,
  );
  return rows.map(row => JSON.stringify(row)).toSorted();
}

test('an idle queue writes nothing; jobs of a killed process are retried, and finished ones deleted', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const done: number[] = [];
  const jobs = open(async ({ data }) => {
    done.push(data.n);
  });
  await send(jobs, 1);
  jobs.wake();
  await eventually(() => done.length === 1);
  const states = async () => {
    const { rows } = await database.pool.query(`SELECT state::text FROM ${SCHEMA}.job WHERE name = $1`, [
      queue,
    ]);
    return rows.map(({ state }) => state);
  };
  await eventually(states, ([state]) => state === 'completed');
  const before = await bookkeeping();
  for (let minute = 0; minute < 5; minute++) await vi.advanceTimersByTimeAsync(60_000);
  await jobs.stop();
  expect(await bookkeeping()).toEqual(before);

  await database.pool.query(
    `UPDATE ${SCHEMA}.job SET completed_on = completed_on - interval '2 hours' WHERE name = $1`,
    [queue],
  );
  const idle = openJobs(database.connection, SCHEMA, logger);
  idle.start();
  await send(idle, 2);
  await idle.stop();
  await database.pool.query(
    `UPDATE ${SCHEMA}.job SET state = 'active', started_on = now() - interval '1 hour' WHERE state < 'active' AND name = $1`,
    [queue],
  );
  const again = open(async ({ data }) => {
    done.push(data.n);
  });
  await send(again, 3);
  await eventually(() => done.includes(3));
  expect(done).not.toContain(2);
  await vi.advanceTimersByTimeAsync(15_000);
  await eventually(() => done.includes(2));
  await eventually(states, found => found.length === 2 && found.every(state => state === 'completed'));
  await again.stop();
});

test('a stopped queue takes nothing, and stopping one that never started is fine', async () => {
  const jobs = openJobs(database.connection, SCHEMA, logger);
  await jobs.stop();
  await expect(send(jobs, 1)).rejects.toMatchObject({ code: 'unavailable' });
});

test('senders get an error while the database is unreachable, and the start keeps trying', async () => {
  const nowhere = openJobs({ host: '127.0.0.1', port: 1 }, SCHEMA, logger);
  nowhere.work(queue, 1, async () => {});
  nowhere.start();
  await expect(send(nowhere, 1)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 5 });
  await nowhere.stop();
});

test('a stop does not wait for a database that has fallen silent: what was being asked is broken off', async () => {
  const relay = await openRelay(database.connection);
  const jobs = openJobs(relay.connection, SCHEMA, logger);
  const worked = Promise.withResolvers<void>();
  jobs.work<Work>(queue, 5, async () => worked.resolve());
  jobs.start();
  await send(jobs, 1);
  await worked.promise;
  relay.blackHole();
  // The worker polls the queue over a dead connection.
  jobs.wake();
  await jobs.stop();
  await relay.close();
}, 40_000);
