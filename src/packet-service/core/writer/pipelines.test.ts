import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { notePacket, type OtherClient, otherClient } from '../../../../test/helpers/writes.ts';
import { openPool } from '../../../platform/database/database.ts';
import { packetWrite } from '../../intake/packet-write.ts';
import type { Packet } from '../packet-format/packet.ts';
import { uuidToUlid } from '../packet-format/ulid.ts';
import { type BatchWriter, batchWriter } from './batch-writer.ts';
import { openPipelines } from './pipelines.ts';

let database: TestDatabase;
let pool: pg.Pool;
let stranger: OtherClient;

beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.connection, 'packet_service', 1, { pipeline: true });
  stranger = await otherClient(database);
});
afterAll(async () => {
  await Promise.all([pool.end(), stranger.end()]);
  await database.drop();
});

const newWriter = () => batchWriter(pool, 1, pino({ level: 'silent' }));

/** With so many GeoIDs that one of them is enough to be sent behind another batch. */
const packet = (): Packet =>
  notePacket({ additionalGeoids: Array.from({ length: 40 }, (_, n) => `additional ${n}`) });

/** Begins a write that the server cannot finish before `stranger` ends its transaction, which has the same id. */
async function held(writer: BatchWriter): Promise<{ id: string; written: Promise<unknown> }> {
  const first = packet();
  await stranger.hold(first.id);
  const written = writer.write(packetWrite({ packet: first }, { freshId: true }));
  await stranger.blocks();
  return { id: first.id, written };
}

test('a pipelined batch joins another on its connection; a third one does not, nor one that waits for answers', async () => {
  const wide = openPool(database.connection, 'packet_service', 3, { pipeline: true });
  const pipelines = openPipelines(wide, 2);
  expect(pipelines.takesAnother()).toBe(false);
  const first = pipelines.enter(true);
  expect(pipelines.takesAnother()).toBe(true);
  const asking = pipelines.enter(false);
  expect(asking).not.toBe(first);
  expect(pipelines.hasRoom()).toBe(false);
  expect(pipelines.enter(true)).toBe(first);
  expect(pipelines.takesAnother()).toBe(false);
  const third = pipelines.enter(true);
  expect(third).not.toBe(first);
  third.failed = true;
  expect(pipelines.takesAnother()).toBe(false);

  for (const pipeline of [first, first, asking, third])
    await pipeline.connection.then(() => pipelines.leave(pipeline));
  expect(pipelines.hasRoom()).toBe(true);
  await eventually(() => wide.idleCount === 2);
  expect(wide.totalCount).toBe(2);
  await wide.end();
});

test('what is sent behind a batch that fails is stored all the same', async () => {
  const writer = newWriter();
  const { id, written } = await held(writer);
  const failed = written.then(
    () => 'stored',
    ({ code }) => code,
  );
  // The second comes when the first is on its way, and goes when there is a place again.
  const behind = [packet(), packet()];
  const outcomes = [];
  for (const one of behind) {
    outcomes.push(writer.write(packetWrite({ packet: one }, { freshId: true })));
    await turn();
  }
  await stranger.query('COMMIT');
  expect(await failed).toBe('internal');
  expect(await Promise.all(outcomes)).toEqual([{ kind: 'stored' }, { kind: 'stored' }]);
  const ids = [id, ...behind.map(one => one.id)];
  const { rows } = await database.pool.query('SELECT id FROM packets WHERE id = ANY ($1::uuid[])', [ids]);
  expect(rows.map(row => uuidToUlid(row.id)).sort()).toEqual(ids.map(uuidToUlid).sort());
});

test('a write that waits for an answer is not overtaken by later pipelined ones', async () => {
  const writer = newWriter();
  const { written } = await held(writer);
  const answered: string[] = [];
  const answers = [];
  for (const [name, freshId] of Object.entries({ asks: false, second: true, third: true })) {
    answers.push(
      writer.write(packetWrite({ packet: packet() }, { freshId })).then(() => answered.push(name)),
    );
    await turn();
  }
  await stranger.query('ROLLBACK');
  await Promise.all([written, ...answers]);
  expect(answered[0]).toBe('asks');
});
