import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../test/helpers/database.ts';
import { pacer } from '../../platform/concurrency/pacer.ts';
import { weightedSemaphore } from '../../platform/concurrency/weighted-semaphore.ts';
import { Problem } from '../../platform/http/problems.ts';
import { batchWriter } from '../core/writer/batch-writer.ts';
import { acceptBatch, type BatchContext } from './batch.ts';
import type { ItemKind, ItemKinds } from './kinds.ts';
import { INTAKE_NAMES } from './schemas.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const taking = (kind: ItemKind, parsedBytes: number): BatchContext => ({
  kinds: Object.fromEntries(INTAKE_NAMES.map(name => [name, kind])) as ItemKinds,
  log: pino({ level: 'silent' }),
  writer: batchWriter(database.pool, 1, pino({ level: 'silent' })),
  findAnswer: async () => undefined,
  untilComplete: async () => {},
  pace: pacer(20_000),
  parsed: weightedSemaphore(parsedBytes),
});
const sender = {
  user: undefined,
  anonymous: false,
  contentLanguage: undefined,
};
const items = (count: number, bytes: number) =>
  Array.from({ length: count }, () =>
    Buffer.from(JSON.stringify({ intake: 'scouting', body: { x: 'x'.repeat(bytes) } })),
  );
const refuse = () => Promise.reject(new Problem('invalid', 'refused'));

function take(kind: Partial<ItemKind>, batch: Buffer[], parsedBytes = 100_000_000) {
  const whole = { isOrdered: false, check: () => {}, truncated: () => [], prepare: refuse, ...kind };
  return acceptBatch(taking(whole, parsedBytes), sender, batch, undefined);
}

/** Counts the turns of the event loop. */
function turnCounter(): { turn: () => number; stop: () => void } {
  let count = 0;
  let running = true;
  const next = () => {
    count++;
    if (running) setImmediate(next);
  };
  setImmediate(next);
  return {
    turn: () => count,
    stop: () => {
      running = false;
    },
  };
}

test('of large items few are read in one turn of the event loop, of small ones many', async () => {
  for (const [bytes, most] of [
    [400_000, 1],
    [190_000, 3],
    [200, 1000],
  ] as const) {
    const { turn, stop } = turnCounter();
    const read = new Map<number, number>();
    const batch = items(bytes === 200 ? 1000 : 30, bytes);
    await take({ check: () => read.set(turn(), (read.get(turn()) ?? 0) + 1) }, batch);
    stop();
    expect(Math.max(...read.values()), `${bytes} bytes`).toBeLessThanOrEqual(most);
    if (bytes === 200) expect(read.size).toBeLessThan(5);
  }
});

test('of large items few become packets in one turn, also when their places are resolved together', async () => {
  const { turn, stop } = turnCounter();
  const made = new Map<number, number>();
  const { promise: resolved, resolve } = Promise.withResolvers<void>();
  let waiting = 0;
  const prepare = async () => {
    waiting++;
    if (waiting === 20) setImmediate(resolve);
    await resolved;
    return () => {
      made.set(turn(), (made.get(turn()) ?? 0) + 1);
      throw new Problem('invalid', 'refused');
    };
  };
  for (const isOrdered of [false, true]) {
    waiting = 0;
    made.clear();
    const answers = await take({ prepare, isOrdered }, items(20, 200_000));
    expect(answers).toEqual(Array(20).fill({ error: 'refused', status: 400 }));
    expect(Math.max(...made.values()), `ordered: ${isOrdered}`).toBe(1);
  }
  stop();
});

test('no more is parsed than there is room for, and everything is answered in its order', async () => {
  let inside = 0;
  let most = 0;
  const prepare = async () => {
    inside++;
    most = Math.max(most, inside);
    await new Promise(resolve => setImmediate(resolve));
    inside--;
    throw new Problem('invalid', 'refused');
  };
  const answers = await take({ prepare }, items(50, 10_000), 45_000);
  expect(answers).toHaveLength(50);
  expect(most).toBe(4);
});
