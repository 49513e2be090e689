import { setImmediate as turn } from 'node:timers/promises';
import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
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
import { uuidToUlid } from '../packet-format/ulid.ts';
import { type BatchWriter, batchWriter } from './batch-writer.ts';
import { ALWAYS_COMPLETE } from './broken-commits.ts';
import { openWriter } from './open-writer.ts';
import { openPipelines } from './pipelines.ts';
import type { PacketWrite } from './write-store.ts';

/** Which packets share a transaction, and when a batch begins alongside others or behind one. */
let database: TestDatabase;
let other: OtherClient;
const pools: pg.Pool[] = [];
beforeAll(async () => {
  database = await testDatabase();
  other = await otherClient(database);
});
afterEach(async () => {
  await other.query('ROLLBACK');
  await Promise.all(pools.splice(0).map(pool => pool.end()));
});
afterAll(async () => {
  await other.end();
  await database.drop();
});

function newPool(connections: number): pg.Pool {
  const pool = openPool(database.connection, 'packet_service', connections, { pipeline: true });
  pools.push(pool);
  return pool;
}

function newWriter(connections: number): BatchWriter {
  return batchWriter(newPool(connections), connections, pino({ level: 'silent' }));
}

const fresh = (packet: Packet): PacketWrite => packetWrite({ packet }, { freshId: true });
/** A write that has to look for its id, so that nothing is sent behind it. */
const looked = (packet: Packet): PacketWrite => packetWrite({ packet }, { freshId: false });
const idsOf = (packets: readonly Packet[]) => packets.map(({ id }) => id);
const notes = (count: number, fields: Partial<Packet> = {}) =>
  Array.from({ length: count }, () => notePacket(fields));

/** Begins a batch of one packet, which waits until `other` ends its transaction; resolves when it is stored. */
async function begunBatch(writer: BatchWriter, write: PacketWrite): Promise<unknown> {
  await other.hold(write.packet.id);
  return writer.write(write);
}

test('packets waiting behind a batch are written in batches of 128', async () => {
  const writer = newWriter(1);
  const first = notePacket();
  const held = begunBatch(writer, looked(first));
  await other.blocks();
  const waiting = notes(300);
  const written: Promise<unknown>[] = [];
  for (const [n, packet] of waiting.entries()) {
    written.push(writer.write(looked(packet)));
    // Those that come later wait as well: there is no connection for a batch of fewer.
    if (n % 50 === 0) await turn();
  }
  await other.query('ROLLBACK');
  await Promise.all([held, ...written]);
  const groups = await storedTogether(database, idsOf(waiting));
  expect(groups.map(({ length }) => length)).toEqual([128, 128, 44]);
});

test('a transaction has at most 4 MiB of packet text, or one larger packet alone', async () => {
  const writer = newWriter(1);
  const held = begunBatch(writer, looked(notePacket()));
  await other.blocks();
  const bytes = (count: number) => {
    const packet = notePacket();
    return { ...packet, body: 'x'.repeat(count - packet.header.length) };
  };
  const half = 2 * 1024 * 1024;
  const waiting = [half, half, half, half + 1, 200, 2 * half + 1, 200].map(bytes);
  const written = waiting.map(packet => writer.write(looked(packet)));
  await other.query('ROLLBACK');
  await Promise.all([held, ...written]);
  const groups = await storedTogether(database, idsOf(waiting));
  const order = groups.map(group => group.map(id => idsOf(waiting).indexOf(id)).toSorted((a, b) => a - b));
  expect(order).toEqual([[0, 1], [2], [3, 4], [5], [6]]);
});

test('on another connection a batch begins when 32 packets wait', async () => {
  const writer = newWriter(2);
  const held = begunBatch(writer, looked(notePacket()));
  await other.blocks();
  const [few, last, later] = [notes(31), notePacket(), notes(31)];
  const fewWritten = few.map(packet => writer.write(looked(packet)));
  await turn();
  await Promise.all([...fewWritten, writer.write(looked(last))]);
  // While one batch is being written, up to 31 rows do not start another; one more does.
  const laterWritten = later.map(packet => writer.write(looked(packet)));
  await turn();
  const end = notePacket();
  await Promise.all([...laterWritten, writer.write(looked(end))]);
  await other.query('ROLLBACK');
  await held;
  const groups = await storedTogether(database, idsOf([...few, last, ...later, end]));
  expect(groups.map(ids => ids.toSorted())).toEqual([
    idsOf([...few, last]).toSorted(),
    idsOf([...later, end]).toSorted(),
  ]);
});

test('packets that arrive while several batches are written wait until there are 32', async () => {
  const writer = newWriter(2);
  const held = begunBatch(writer, looked(notePacket()));
  await other.blocks();
  const [begun, between, after] = [notes(32), notePacket(), notes(31)];
  const begunWrites = begun.map(packet => writer.write(looked(packet)));
  await turn();
  const betweenWritten = writer.write(looked(between));
  await Promise.all(begunWrites);
  await turn();
  const afterWritten = after.map(packet => writer.write(looked(packet)));
  await Promise.all([betweenWritten, ...afterWritten]);
  await other.query('ROLLBACK');
  await held;
  expect(await storedTogether(database, idsOf([between, ...after]))).toHaveLength(1);
});

test('packets that arrive together and are more than one batch are written on all connections at once', async () => {
  const writer = newWriter(2);
  const packets = notes(160);
  await other.hold(packets[0]?.id as string);
  const written = packets.map(packet => writer.write(looked(packet)));
  await Promise.all(written.slice(128));
  await other.query('ROLLBACK');
  expect((await Promise.all(written)).every(({ kind }) => kind === 'stored')).toBe(true);
});

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix} ${n}`);
const wordRow = (word: string) => ({
  table: { name: 'test_words', insert: 'INSERT INTO chat_words (word, tokens)', width: 2 },
  values: [word, "'x'"],
});
const uuids = (count: number) => notes(count).map(({ id }) => ({ id, sha256: null }));

/** Writes whose packet and what belongs to it are 7 rows, counting each row of another feature as three. */
const WEIGHTS: [string, () => PacketWrite][] = [
  ['GeoIDs', () => fresh(notePacket({ additionalGeoids: names('additional', 6) }))],
  ['attachments', () => fresh(notePacket({ attachments: uuids(6) as Packet['attachments'] }))],
  ['messages', () => ({ ...fresh(notePacket()), rows: names(`word ${Math.random()}`, 2).map(wordRow) })],
];

test.each(WEIGHTS)(
  'behind another batch one begins with 8 rows if no more were open lately: %s',
  async (_what, write) => {
    const writer = newWriter(1);
    const held = begunBatch(writer, fresh(notePacket()));
    await other.blocks();
    const writes = [write(), fresh(notePacket()), fresh(notePacket())];
    const written: Promise<unknown>[] = [];
    for (const write of writes) {
      written.push(writer.write(write));
      await turn();
    }
    await other.query('ROLLBACK');
    await Promise.all([held, ...written]);
    const [first, second, third] = writes.map(({ packet }) => packet.id) as [string, string, string];
    const groups = await storedTogether(database, [first, second, third]);
    expect(groups.map(group => group.toSorted())).toEqual([[first, second].toSorted(), [third]]);
  },
);

/** How packets that come one after the other behind a batch are divided, in packets. */
async function batchesBehind(writer: BatchWriter, count: number): Promise<number[]> {
  const held = begunBatch(writer, fresh(notePacket()));
  await other.blocks();
  const waiting = notes(count);
  const written: Promise<unknown>[] = [];
  for (const packet of waiting) {
    written.push(writer.write(fresh(packet)));
    await turn();
  }
  await other.query('ROLLBACK');
  await Promise.all([held, ...written]);
  const groups = await storedTogether(database, idsOf(waiting));
  return groups.map(({ length }) => length);
}

const LOADS = [
  { open: 40, begins: 19, what: 'half of the rows that were open lately' },
  { open: 128, begins: 32, what: '32 rows where more were open' },
];

test.each(LOADS)('behind another batch one begins with $what', async ({ open, begins }) => {
  const writer = newWriter(1);
  await Promise.all(notes(open).map(packet => writer.write(fresh(packet))));
  expect(await batchesBehind(writer, begins + 1)).toEqual([begins, 1]);
});

test('how many rows were open is forgotten while few come', async () => {
  const writer = newWriter(1);
  await Promise.all(notes(128).map(packet => writer.write(fresh(packet))));
  for (const packet of notes(64)) await writer.write(fresh(packet));
  expect(await batchesBehind(writer, 9)).toEqual([8, 1]);
});

test('a writer reports stored packets, not refused ones', async () => {
  const order: string[] = [];
  const writer = openWriter(newPool(1), {
    connections: 1,
    logger: pino({ level: 'silent' }),
    onWritten: ({ packet }) => order.push(packet.id),
    untilComplete: ALWAYS_COMPLETE,
  });
  const good = notePacket();
  await writer.write(fresh(good));
  await expect(writer.write(fresh(notePacket({ ts: 'never' })))).rejects.toMatchObject({ code: 'internal' });
  await turn();
  expect(order).toEqual([good.id]);
});

/** A packet with enough GeoIDs to be sent behind another batch on its own. */
const widePacket = (): Packet =>
  notePacket({ additionalGeoids: Array.from({ length: 40 }, (_, n) => `additional ${n}`) });

/** Begins a write that the server cannot finish before `other` ends its transaction, which has the same id. */
async function held(writer: BatchWriter): Promise<{ id: string; written: Promise<unknown> }> {
  const first = widePacket();
  await other.hold(first.id);
  const written = writer.write(packetWrite({ packet: first }, { freshId: true }));
  await other.blocks();
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

test('a batch sent behind a failed batch is still stored', async () => {
  const writer = newWriter(1);
  const { id, written } = await held(writer);
  const failed = written.then(
    () => 'stored',
    ({ code }) => code,
  );
  // The second comes when the first is on its way, and goes when a slot is free again.
  const behind = [widePacket(), widePacket()];
  const outcomes = [];
  for (const packet of behind) {
    outcomes.push(writer.write(packetWrite({ packet }, { freshId: true })));
    await turn();
  }
  await other.query('COMMIT');
  expect(await failed).toBe('internal');
  expect(await Promise.all(outcomes)).toEqual([{ kind: 'stored' }, { kind: 'stored' }]);
  const ids = [id, ...behind.map(packet => packet.id)];
  const { rows } = await database.pool.query('SELECT id FROM packets WHERE id = ANY ($1::uuid[])', [ids]);
  expect(rows.map(row => uuidToUlid(row.id)).sort()).toEqual(ids.map(uuidToUlid).sort());
});

test('a write that waits for an answer is not overtaken by later pipelined ones', async () => {
  const writer = newWriter(1);
  const { written } = await held(writer);
  const answered: string[] = [];
  const answers = [];
  for (const [name, freshId] of Object.entries({ asks: false, second: true, third: true })) {
    answers.push(
      writer.write(packetWrite({ packet: widePacket() }, { freshId })).then(() => answered.push(name)),
    );
    await turn();
  }
  await other.query('ROLLBACK');
  await Promise.all([written, ...answers]);
  expect(answered[0]).toBe('asks');
});
