import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Problem } from '../http/problems.ts';
import { makeLogger } from './logger.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

interface Line {
  level: string;
  service?: string;
  trouble?: string;
  failures?: number;
  seconds?: number;
  msg: string;
}

function openLog() {
  const lines: Line[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  return { logger: makeLogger('info', stream), take: () => lines.splice(0) };
}

const gone = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

test('an outage of two and a half minutes is logged when it begins, once a minute with its count, and when it ends', () => {
  const { logger, take } = openLog();
  const child = logger.child({ service: 'packet-service' });
  for (let second = 0; second < 150; second++) {
    for (let n = 0; n < 10; n++) child.error({ err: gone }, 'a request failed');
    vi.advanceTimersByTime(1000);
  }
  vi.advanceTimersByTime(30_000);
  const lines = take();
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    ['error', 'a request failed; repetitions are counted'],
    ['error', 'still: the database is not responding'],
    ['error', 'still: the database is not responding'],
    ['info', 'over: the database is not responding'],
  ]);
  expect(lines.map(({ failures }) => failures)).toEqual([undefined, 600, 1200, 1500]);
  for (const { service, trouble } of lines)
    expect([service, trouble]).toEqual(['packet-service', 'the database is not responding']);
});

test('outages of two services, and two faults of one, are distinguished', () => {
  const { logger, take } = openLog();
  const full = Object.assign(new Error('no space left'), { code: '53100' });
  for (const service of ['packet-service', 'trace-backend']) {
    for (const err of [gone, full, gone, full]) logger.child({ service }).error({ err }, 'failed');
  }
  expect(take()).toHaveLength(4);
  vi.advanceTimersByTime(60_000);
  expect(take().map(({ msg, failures }) => [msg.split(':')[0], failures])).toEqual(
    Array(4).fill(['over', 2]),
  );
});

test('errors other than outages are logged each time: a defect, a conflict, a refusal of one request', () => {
  const { logger, take } = openLog();
  const deadlock = Object.assign(new Error('deadlock detected'), { code: '40P01' });
  for (const err of [
    new Error('a defect'),
    deadlock,
    new Problem('validation.required', { field: 'name' }),
  ]) {
    for (let n = 0; n < 3; n++) logger.error({ err }, 'failed');
  }
  expect(take()).toHaveLength(9);
});

test('a file store that is away is not taken for the database', () => {
  const { logger, take } = openLog();
  const err = new Problem('file_store.away', {}, { cause: gone });
  for (let n = 0; n < 3; n++) logger.error({ err }, 'failed');
  expect(take()).toEqual([
    expect.objectContaining({
      trouble: 'the file store is not responding',
      msg: 'failed; repetitions are counted',
    }),
  ]);
});
