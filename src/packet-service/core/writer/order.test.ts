import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import {
  claimOf,
  notePacket,
  type OtherClient,
  orderedIds,
  otherClient,
} from '../../../../test/helpers/writes.ts';
import { openPool } from '../../../platform/database/database.ts';
import { packetWrite } from '../../intake/packet-write.ts';
import { batchWriter } from './batch-writer.ts';
import type { PacketWrite } from './write-store.ts';

/**
 * Processes that write the same keys must take them in the same order, or they deadlock. Here another client holds the
 * middle one of three keys that a batch has in the wrong order: the batch then waits with the lowest key and without
 * the highest, which others can take.
 */
let database: TestDatabase;
let other: OtherClient;
let pool: pg.Pool;
beforeAll(async () => {
  database = await testDatabase();
  pool = openPool(database.connection, 'packet_service', 1, { pipeline: true });
  other = await otherClient(database);
});
afterEach(() => other.query('ROLLBACK'));
afterAll(async () => {
  await Promise.all([other.end(), pool.end()]);
  await database.drop();
});

const ids = async () => (await orderedIds(database, 3)) as [string, string, string];
const PACKET = `INSERT INTO packets (id, geoid, ts, type, header, body, footer)
  VALUES ($1, 'g', now(), 'note', '{}', '{}', '{}')`;
const KEY = `INSERT INTO idempotency_keys (caller, route, key, fingerprint, status, answer, created_at)
  VALUES ('', 'POST /test', $1, '', 201, '{}', now())`;
const NAMED = 'INSERT INTO attachment_claims (attachment_id) VALUES ($1)';
const WORD = "INSERT INTO chat_words (word, tokens) VALUES ($1, '')";
const wordTable = { name: 'ordered_words', insert: 'INSERT INTO chat_words (word, tokens)', width: 2 };

const KEYS: [string, string, (id: string) => PacketWrite][] = [
  [
    'packets that may be there',
    PACKET,
    id => packetWrite({ packet: notePacket({ id }) }, { freshId: false }),
  ],
  ['packets that are new', PACKET, id => packetWrite({ packet: notePacket({ id }) }, { freshId: true })],
  [
    'idempotency keys',
    KEY,
    id => packetWrite({ packet: notePacket() }, { freshId: true, claim: claimOf(id) }),
  ],
  [
    'attachments',
    NAMED,
    id => packetWrite({ packet: notePacket({ attachments: [{ id, sha256: null }] }) }, { freshId: true }),
  ],
  [
    'rows of other features',
    WORD,
    id => ({
      ...packetWrite({ packet: notePacket() }, { freshId: true }),
      rows: [{ table: wordTable, values: [id, ''] }],
    }),
  ],
];

test.each(KEYS)('a batch takes its keys in their order: %s', async (_what, insert, write) => {
  const [low, middle, high] = await ids();
  await other.query('BEGIN');
  await other.query(insert, [middle]);
  const writer = batchWriter(pool, 1, pino({ level: 'silent' }));
  const written = [high, middle, low].map(id => writer.write(write(id)));
  await other.blocks();
  expect(await other.canRun(insert, [high])).toBe(true);
  await other.query('ROLLBACK');
  expect(await Promise.all(written)).toEqual(Array(3).fill({ kind: 'stored' }));
  await writer.drain();
});

test('a batch takes its tables in the same order as every other, whatever its packets bring', async () => {
  const tables = ['a', 'b'].map(name => ({ ...wordTable, name: `ordered_words_${name}` }));
  const [low, , high] = await ids();
  const [inA, inB] = [
    { table: tables[0] as typeof wordTable, values: [high, ''] },
    { table: tables[1] as typeof wordTable, values: [low, ''] },
  ];
  await other.query('BEGIN');
  await other.query(WORD, [high]);
  const writer = batchWriter(pool, 1, pino({ level: 'silent' }));
  const packet = () => packetWrite({ packet: notePacket() }, { freshId: true });
  const written = [
    { ...packet(), rows: [inB] },
    { ...packet(), rows: [inA] },
  ].map(write => writer.write(write));
  await other.blocks();
  // Table a comes first and waits for its key; nothing of table b is there yet.
  expect(await other.canRun(WORD, [low])).toBe(true);
  await other.query('ROLLBACK');
  await Promise.all(written);
  await writer.drain();
});

test('the first packet of a batch that refers to an attachment decides who can upload it, whatever the packet ids', async () => {
  const [low, , high] = await ids();
  const { id } = notePacket();
  const writer = batchWriter(pool, 1, pino({ level: 'silent' }));
  const named = (packetId: string, author: string, sha256: string) =>
    packetWrite(
      { packet: notePacket({ id: packetId, author, attachments: [{ id, sha256 }] }) },
      { freshId: true },
    );
  await Promise.all([
    writer.write(named(high, 'first', 'aa'.repeat(32))),
    writer.write(named(low, 'second', 'bb'.repeat(32))),
  ]);
  const { rows } = await database.pool.query(
    "SELECT author, encode(sha256, 'hex') AS sha256 FROM attachment_claims WHERE attachment_id = $1",
    [id],
  );
  expect(rows).toEqual([{ author: 'first', sha256: 'aa'.repeat(32) }]);
  await writer.drain();
});
