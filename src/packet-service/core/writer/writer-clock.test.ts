import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { endWaitingSessions, type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import {
  notePacket,
  type OtherClient,
  otherClient,
  storedTogether,
} from '../../../../test/helpers/writes.ts';
import { openPool } from '../../../platform/database/database.ts';
import { packetWrite } from '../../intake/packet-write.ts';
import type { Packet } from '../packet-format/packet.ts';
import { type BatchWriter, batchWriter } from './batch-writer.ts';

/** The writer over time. Its clock is an interval that ticks only when a test lets it. */
let database: TestDatabase;
let other: OtherClient;
let another: OtherClient;
const pools: pg.Pool[] = [];
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  database = await testDatabase();
  other = await otherClient(database);
  another = await otherClient(database);
});
afterEach(async () => {
  await Promise.all([other.query('ROLLBACK'), another.query('ROLLBACK')]);
  await Promise.all(pools.splice(0).map(pool => pool.end()));
});
afterAll(async () => {
  await Promise.all([other.end(), another.end()]);
  await database.drop();
  vi.useRealTimers();
});

const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000);

/** Statements have an hour, so that no connection is closed before the writer itself has lost patience. */
function newPool(connections = 1, connection: pg.ClientConfig = database.connection): pg.Pool {
  const deadline = { ms: 3600_000, of: 'statement' } as const;
  const pool = openPool(connection, 'packet_service', connections, { pipeline: true, deadline });
  pools.push(pool);
  return pool;
}

const newWriter = (pool = newPool(), connections = 1) =>
  batchWriter(pool, connections, pino({ level: 'silent' }));

/** Writes packets and notes which are refused, and with which words. */
function writing(writer: BatchWriter) {
  const refused = new Map<string, string>();
  return {
    refused,
    write(packet: Packet, since?: number): Promise<unknown> {
      const written = writer.write(packetWrite({ packet }, { freshId: false }), since);
      return written.catch(({ code, message, retryAfter }) => {
        refused.set(packet.id, `${code} ${retryAfter}: ${message}`);
      });
    },
  };
}

const SENT =
  'unavailable 5: the database is not responding and the packet may have been stored; send it again';
const NOT_SENT =
  'unavailable 5: the database is not responding and nothing was stored; send the packet again';

test('a packet that is not written in ten seconds is refused, and what was not sent by then never is', async () => {
  const writer = newWriter();
  const { write, refused } = writing(writer);
  const [sent, waits] = [notePacket(), notePacket()];
  await other.hold(sent.id);
  const first = write(sent);
  await other.blocks();
  const second = write(waits);
  pass(9.5);
  await turn();
  expect(refused.size).toBe(0);
  pass(0.5);
  await Promise.all([first, second]);
  expect(Object.fromEntries(refused)).toEqual({ [sent.id]: SENT, [waits.id]: NOT_SENT });
  await other.query('ROLLBACK');
  await writer.drain();
  expect(await storedTogether(database, [sent.id, waits.id])).toEqual([[sent.id]]);
});

test('the ten seconds start when the request arrives, whatever the writer received before', async () => {
  const writer = newWriter();
  const { write, refused } = writing(writer);
  const [sent, early, late] = [notePacket(), notePacket(), notePacket()];
  await other.hold(sent.id);
  const arrived = writer.now();
  pass(4);
  const written = [write(sent)];
  await other.blocks();
  written.push(write(late), write(early, arrived));
  pass(5.5);
  await turn();
  expect(refused.size).toBe(0);
  pass(0.5);
  await turn();
  expect([...refused.keys()]).toEqual([early.id]);
  pass(4);
  await Promise.all(written);
  expect([...refused.keys()]).toEqual([early.id, late.id, sent.id]);
  await other.query('ROLLBACK');
  await writer.drain();
});

test('a batch that is sent again leaves out packets refused in the meantime', async () => {
  const writer = newWriter();
  const { write, refused } = writing(writer);
  const [first, old, young] = [notePacket(), notePacket(), notePacket()];
  await other.hold(first.id);
  await another.hold(old.id);
  const written = [write(first)];
  await other.blocks();
  written.push(write(old));
  pass(5);
  written.push(write(young));
  await other.query('ROLLBACK');
  await written[0];
  await other.blocks();
  pass(5);
  await written[1];
  expect(Object.fromEntries(refused)).toEqual({ [old.id]: SENT });
  await endWaitingSessions(database.pool);
  expect(await written[2]).toEqual({ kind: 'stored' });
  await another.query('ROLLBACK');
  await writer.drain();
  expect(await storedTogether(database, [old.id, young.id])).toEqual([[young.id]]);
});

test('packets wait ten seconds while the database is gone, and so does a stop', async () => {
  const writer = newWriter(newPool(1, { ...database.connection, host: '/nonexistent' }));
  const { write, refused } = writing(writer);
  const lost = notePacket();
  const written = write(lost);
  await turn();
  // While there is something to write, only time shows that nothing can be written.
  await writer.check(false);
  pass(10);
  await written;
  expect([...refused.values()]).toEqual([SENT]);
  await writer.drain();
  await expect(writer.check(false)).rejects.toMatchObject({ code: 'ENOENT' });
});

test('a read-only server is retried for a second', async () => {
  const pool = newPool(1, { ...database.connection, options: '-c default_transaction_read_only=on' });
  // Each attempt has a connection of its own: a server that was demoted is left.
  let attempts = 0;
  pool.on('connect', () => attempts++);
  const writer = newWriter(pool);
  const { write, refused } = writing(writer);
  const written = write(notePacket());
  await eventually(() => attempts > 1);
  pass(0.5);
  const before = attempts;
  await eventually(() => attempts > before + 1);
  expect(refused.size).toBe(0);
  pass(0.5);
  await written;
  expect([...refused.values()]).toEqual([
    'unavailable 5: the database is not accepting writes; send the packet again',
  ]);
  await writer.drain();
});

test('128 MiB of packet text can wait; more is refused until some of it is written', async () => {
  const writer = newWriter();
  const { write, refused } = writing(writer);
  const large = (bytes: number) => {
    const packet = notePacket();
    return { ...packet, body: 'x'.repeat(bytes - packet.header.length) };
  };
  const quarter = 32 * 1024 * 1024;
  const [sent, empty] = [notePacket(), { ...notePacket(), header: '', body: '' }];
  await other.hold(sent.id);
  const first = write(sent);
  await other.blocks();
  const waiting = [quarter, quarter, quarter, quarter].map(large);
  const written = waiting.map(packet => write(packet));
  const tooMuch = { ...empty, id: notePacket().id, body: 'x' };
  const atTheLimit = [write(tooMuch), write(empty)];
  pass(10);
  await Promise.all(atTheLimit);
  const full = 'unavailable 2: too many packets are waiting to be written; nothing was stored';
  expect(refused.get(tooMuch.id)).toBe(full);
  expect([...waiting, empty].map(({ id }) => refused.get(id))).toEqual(Array(5).fill(NOT_SENT));
  await Promise.all([first, ...written]);

  // Refused packets wait no longer: there is room for as much again.
  const again = [quarter, quarter, quarter, quarter].map(large);
  const writtenAgain = again.map(packet => write(packet));
  pass(10);
  await Promise.all(writtenAgain);
  expect(again.map(({ id }) => refused.get(id))).toEqual(Array(4).fill(NOT_SENT));
  await other.query('ROLLBACK');
  await writer.drain();
});

test('a writer hangs when it has written nothing for five seconds while there was something to write', async () => {
  const writer = newWriter(newPool(2), 2);
  pass(6);
  await writer.check(false);
  const { write } = writing(writer);
  const held = notePacket();
  await other.hold(held.id);
  const written = write(held);
  await other.blocks();
  await writer.check(false);
  pass(4);
  // Another connection writes: 32 packets are enough for it to begin.
  await Promise.all(Array.from({ length: 32 }, () => write(notePacket())));
  pass(5);
  await writer.check(false);
  pass(0.5);
  await expect(writer.check(false)).rejects.toThrow('no packet was written for 5.5 s');
  await other.query('ROLLBACK');
  await written;
  await writer.drain();
});

test('an idle writer is checked with the path of a write, on a connection that is kept while it works', async () => {
  const pool = newPool();
  const writer = newWriter(pool);
  await writer.check(true);
  await writer.check(false);
  expect([pool.totalCount, pool.idleCount]).toEqual([1, 1]);
  await database.pool.query('ALTER TABLE packets RENAME TO away');
  await expect(writer.check(false)).rejects.toMatchObject({ code: '42P01' });
  await database.pool.query('ALTER TABLE away RENAME TO packets');
  expect(pool.totalCount).toBe(0);
  await writer.drain();
});

test('a drain waits for what has only just come, and ends the clock', async () => {
  const writer = newWriter();
  const timers = vi.getTimerCount();
  const { write, refused } = writing(writer);
  const packet = notePacket();
  const written = write(packet);
  await writer.drain();
  expect(await storedTogether(database, [packet.id])).toHaveLength(1);
  await written;
  expect(refused.size).toBe(0);
  // The connections' clock runs on.
  expect(vi.getTimerCount()).toBe(timers - 1);
  await writer.drain();
});
