import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { openPool } from '../../../platform/database/database.ts';
import { findReadable } from '../../collaboration/chat/messages/visible-store.ts';
import { sequencer } from './sequencer.ts';
import { queueStatements } from './store.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

test('an event whose packet cannot be read keeps its age, however often it is read', async () => {
  const pool = openPool(database.connection, 'packet_service', 1, { pipeline: true });
  let settled = 0;
  const news = { position: 0, advance: () => {}, settle: () => settled++ };
  const listeners = { news, clock: { seen: () => {} }, onErased: () => {}, findVisible: findReadable };
  for (const statement of queueStatements([{ kind: 'packet', packetId: randomUUID() }]))
    await database.pool.query(statement);
  const log = sequencer(pool, listeners, pino({ level: 'silent' }));
  const before = performance.now();
  log.start();
  const rounds = async (count: number) => {
    log.wake();
    return settled >= count;
  };
  await eventually(() => rounds(3));
  const waited = performance.now() - before;
  expect(log.outboxAge() * 1000).toBeGreaterThanOrEqual(waited);

  await database.pool.query('DELETE FROM packet_log_queue');
  const emptied = performance.now();
  const seen = settled;
  await eventually(() => rounds(seen + 3));
  expect(log.outboxAge() * 1000).toBeLessThanOrEqual(performance.now() - emptied);
  await log.stop();
  await pool.end();
});
