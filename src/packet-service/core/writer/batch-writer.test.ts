import type pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { notePacket, otherClient } from '../../../../test/helpers/writes.ts';
import { openPool } from '../../../platform/database/database.ts';
import type { Problem } from '../../../platform/http/problems.ts';
import { parseTimestamp, type Timestamp } from '../../../platform/time.ts';
import { packetWrite } from '../../intake/packet-write.ts';
import { makePacket, type Packet } from '../packet-format/packet.ts';
import { newUlid, uuidToUlid } from '../packet-format/ulid.ts';
import { batchWriter } from './batch-writer.ts';
import { openWriter } from './open-writer.ts';

const logger = pino({ level: 'silent' });
let database: TestDatabase;
const pools: pg.Pool[] = [];

beforeAll(async () => {
  database = await testDatabase();
});
afterAll(async () => {
  await Promise.all(pools.map(pool => pool.end()));
  await database.drop();
});

function newPool(connections: number): pg.Pool {
  const pool = openPool(database.connection, 'packet_service', connections, { pipeline: true });
  pools.push(pool);
  return pool;
}

function newWriter(connections = 2) {
  return batchWriter(newPool(connections), connections, logger);
}

function packet(message: string, id = newUlid()): Packet {
  const timestamp = parseTimestamp('2026-03-01T08:15:00Z') as Timestamp;
  return makePacket({
    id,
    geoid: 'g',
    additionalGeoids: ['h'],
    timestamp,
    type: 'note',
    body: { message },
    lang: 'en',
  });
}

async function storedIds(ids: string[]): Promise<string[]> {
  const { rows } = await database.pool.query('SELECT id FROM packets WHERE id = ANY ($1::uuid[])', [ids]);
  return rows.map(row => row.id as string).sort();
}

test('a packet can be read from another connection as soon as its write is answered', async () => {
  const writer = newWriter();
  await Promise.all(
    Array.from({ length: 300 }, async (_, n) => {
      const written = packet(`message ${n}`);
      expect(await writer.write(packetWrite({ packet: written }, { freshId: true }))).toEqual({
        kind: 'stored',
      });
      expect(await storedIds([written.id])).toEqual([written.id]);
    }),
  );
});

test('rows that the database refuses fail alone, at any position of the batch', async () => {
  const writer = newWriter(1);
  const isBad = (n: number) => [0, 17, 18, 63, 99].includes(n);
  const packets = Array.from({ length: 100 }, (_, n) => {
    const good = packet(`message ${n}`);
    return isBad(n) ? { ...good, ts: 'the day before yesterday' } : good;
  });
  const results = await Promise.allSettled(
    packets.map(packet => writer.write(packetWrite({ packet }, { freshId: true }))),
  );
  results.forEach((result, n) => {
    expect(result.status, `packet ${n}`).toBe(isBad(n) ? 'rejected' : 'fulfilled');
    if (result.status === 'rejected') expect((result.reason as Problem).code).toBe('internal');
  });
  const good = packets.filter((_, n) => !isBad(n)).map(({ id }) => id);
  expect(await storedIds(packets.map(({ id }) => id))).toEqual(good.sort());
});

test('a batch whose connection is cut in the middle is written by another connection', async () => {
  const writer = newWriter(2);
  const packets = Array.from({ length: 400 }, (_, n) => packet(`message ${n}`));
  const cut = async () => {
    for (let round = 0; round < 5; round++) {
      await database.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'INSERT INTO packets%'`);
    }
  };
  const waves = [0, 1, 2, 3].map(wave => packets.slice(wave * 100, wave * 100 + 100));
  for (const wave of waves) {
    const [outcomes] = await Promise.all([
      Promise.all(wave.map(packet => writer.write(packetWrite({ packet }, { freshId: true })))),
      cut(),
    ]);
    expect(outcomes.every(({ kind }) => kind === 'stored')).toBe(true);
  }
  const ids = packets.map(({ id }) => id);
  expect(await storedIds(ids)).toEqual(ids.sort());
  const { rows } = await database.pool.query(
    'SELECT count(*)::int AS count FROM packet_geoids WHERE packet_id = ANY ($1::uuid[])',
    [ids],
  );
  expect(rows[0].count).toBe(400);
});

test('writers that take the same keys in opposite orders all finish, and each key is written once', async () => {
  const [left, right] = [newWriter(2), newWriter(2)];
  const ids = Array.from({ length: 200 }, () => newUlid());
  const claim = (n: number) => ({
    caller: '',
    route: 'POST /test',
    key: `key ${n}`,
    fingerprint: Buffer.alloc(32),
    status: 201,
    answer: `"${n}"`,
  });
  const writes = ids.map((id, n) =>
    packetWrite({ packet: packet('same', id) }, { freshId: false, claim: claim(n) }),
  );
  const outcomes = await Promise.all([
    ...writes.map(write => left.write(write)),
    ...writes.toReversed().map(write => right.write(write)),
  ]);
  expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(200);
  expect(outcomes.filter(({ kind }) => kind === 'key-exists')).toHaveLength(200);
});

test('a deadlock with a stranger is over in the end: the batch is sent again', async () => {
  const writer = newWriter(1);
  const [first, second] = [newUlid(), newUlid()].sort() as [string, string];
  const stranger = await otherClient(database);
  const insert = `INSERT INTO packets (id, geoid, ts, type, header, body, footer)
    VALUES ($1::uuid, 'g', now(), 'note', '{}', '{}', '{}')`;
  const rows = [packet('first', first), packet('second', second)];
  await stranger.hold(rows[1]?.id as string);
  const written = Promise.all(rows.map(packet => writer.write(packetWrite({ packet }, { freshId: true }))));
  await stranger.blocks();
  // Now each waits for the other; PostgreSQL ends one of the two after deadlock_timeout.
  await stranger.query(insert, [rows[0]?.id]).catch(() => {});
  await stranger.query('ROLLBACK');
  await stranger.end();
  expect(await written).toEqual([{ kind: 'stored' }, { kind: 'stored' }]);
  expect((await storedIds(rows.map(({ id }) => id))).map(uuidToUlid)).toEqual([first, second]);
});

test('an id that exists leaves the stored packet, its further GeoIDs and the idempotency key as they were', async () => {
  const writer = newWriter();
  const original = packet('original');
  await writer.write(packetWrite({ packet: original }, { freshId: false }));
  const other = { ...packet('other', uuidToUlid(original.id)), additionalGeoids: ['elsewhere'] };
  const claim = {
    caller: '',
    route: 'r',
    key: 'unused',
    fingerprint: Buffer.alloc(32),
    status: 201,
    answer: '{}',
  };
  expect(await writer.write(packetWrite({ packet: other }, { freshId: false, claim }))).toEqual({
    kind: 'id-exists',
  });

  const { rows } = await database.pool.query(
    `SELECT body, array_agg(g.geoid) AS further FROM packets p JOIN packet_geoids g ON g.packet_id = p.id
     WHERE p.id = $1 GROUP BY body`,
    [original.id],
  );
  expect(rows).toEqual([{ body: original.body, further: ['h'] }]);
  const keys = await database.pool.query("SELECT 1 FROM idempotency_keys WHERE key = 'unused'");
  expect(keys.rowCount).toBe(0);
});

test('not even the owner of the table changes or removes a packet', async () => {
  const written = packet('kept');
  await newWriter().write(packetWrite({ packet: written }, { freshId: true }));
  for (const statement of ["UPDATE packets SET body = '{}'", 'DELETE FROM packets', 'TRUNCATE packets']) {
    await expect(database.pool.query(statement)).rejects.toMatchObject({ code: '42501' });
  }
});

test('packets whose fields have changed are not stored, and the others of their batch are', async () => {
  const { rows } = await database.pool.query('SELECT state FROM field_state');
  const [known, ended] = [{ state: rows[0].state }, { state: '00000000-0000-4000-8000-000000000000' }];
  const writes = [undefined, known, ended, undefined, known].map((asOf, n) => {
    const written = packetWrite({ packet: packet(`message ${n}`) }, { freshId: true });
    return { ...written, asOf };
  });
  const write = async (chosen: typeof writes) => {
    const writer = newWriter(1);
    return (await Promise.all(chosen.map(write => writer.write(write)))).map(({ kind }) => kind);
  };
  // Those that would have been right are looked up again, too: which state has ended is not known.
  expect(await write(writes)).toEqual(['stored', 'outdated', 'outdated', 'stored', 'outdated']);
  expect(await write(writes.filter(({ asOf }) => asOf === known))).toEqual(['stored', 'stored']);
  const ids = writes.filter(({ asOf }) => asOf !== ended).map(write => write.packet.id);
  expect(await storedIds(writes.map(write => write.packet.id))).toEqual(ids.sort());
});

test('a writer that finds its packet already stored reports it once the packet can be read', async () => {
  const complete = Promise.withResolvers<void>();
  let loads = 0;
  const writer = openWriter(newPool(1), {
    connections: 1,
    logger,
    onWritten() {},
    untilComplete() {
      loads++;
      return complete.promise;
    },
  });
  // Nothing is there yet of an observation whose fields have changed.
  const outdated = {
    ...packetWrite({ packet: notePacket() }, { freshId: true }),
    asOf: { state: '00000000-0000-4000-8000-000000000000', outdated() {} },
  };
  expect(await writer.write(outdated)).toEqual({ kind: 'outdated' });
  expect(loads).toBe(0);

  const note = notePacket();
  const write = (freshId: boolean) => writer.write(packetWrite({ packet: note }, { freshId }));
  expect(await write(true)).toEqual({ kind: 'stored' });
  expect(loads).toBe(0);

  let isAnswered = false;
  const answered = write(false).finally(() => {
    isAnswered = true;
  });
  await expect.poll(() => loads).toBe(1);
  expect(isAnswered).toBe(false);
  complete.resolve();
  expect(await answered).toEqual({ kind: 'id-exists' });
  await writer.drain();
});
