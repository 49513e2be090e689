import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { notePacket } from '../../../../test/helpers/writes.ts';
import { openPool } from '../../../platform/database/database.ts';
import { packetWrite } from '../../intake/packet-write.ts';
import { batchWriter } from './batch-writer.ts';
import { tellingComplete } from './broken-commits.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

test('a writer that finds what it was to store tells so when that can be read', async () => {
  const pool = openPool(database.connection, 'packet_service', 1, { pipeline: true });
  const complete = Promise.withResolvers<void>();
  let asked = 0;
  const writer = tellingComplete(batchWriter(pool, 1, pino({ level: 'silent' })), () => {
    asked++;
    return complete.promise;
  });
  // Nothing is there yet of an observation whose fields have changed.
  const outdated = {
    ...packetWrite({ packet: notePacket() }, { freshId: true }),
    asOf: { state: '00000000-0000-4000-8000-000000000000', outdated() {} },
  };
  expect(await writer.write(outdated)).toEqual({ kind: 'outdated' });
  expect(asked).toBe(0);

  const packet = notePacket();
  const write = (freshId: boolean) => writer.write(packetWrite({ packet }, { freshId }));
  expect(await write(true)).toEqual({ kind: 'stored' });
  expect(asked).toBe(0);

  let isTold = false;
  const told = write(false).finally(() => {
    isTold = true;
  });
  await expect.poll(() => asked).toBe(1);
  expect(isTold).toBe(false);
  complete.resolve();
  expect(await told).toEqual({ kind: 'id-exists' });
  await writer.drain();
  await pool.end();
});
