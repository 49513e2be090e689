import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { openPool } from '../../../platform/database/database.ts';
import { findReadable } from '../../collaboration/chat/messages/visible-store.ts';
import { appendVisible } from './distributed.ts';
import { type LogEvent, NO_HORIZON, queueStatements } from './store.ts';

let database: TestDatabase;
let log: pg.Pool;
let connection: pg.PoolClient;
beforeAll(async () => {
  database = await testDatabase();
  log = openPool(database.connection, 'packet_service', 1, { pipeline: true });
  connection = await log.connect();
});
afterAll(async () => {
  connection.release();
  await log.end();
  await database.drop();
});

/** Commits events in one transaction, as a batch does. */
async function queue(...events: LogEvent[]): Promise<void> {
  for (const statement of queueStatements(events)) await database.pool.query(statement);
}

async function store(id: string): Promise<void> {
  await database.pool.query(
    `INSERT INTO packets (id, geoid, ts, type, header, body, footer) VALUES ($1, '', '2026-01-01', 'scouting', '', '', '')`,
    [id],
  );
}

async function storeMessage(threadId: string, packetId: string): Promise<void> {
  await database.pool.query(
    `INSERT INTO chat_messages (thread_id, ts, packet_id, folded, geoid, pieces) VALUES ($1, '2026-01-01', $2, '', '', '{}')`,
    [threadId, packetId],
  );
}

async function erase(id: string): Promise<void> {
  await database.pool.query(`
    GRANT UPDATE ON packets TO CURRENT_USER;
    UPDATE packets SET erased_at = '2026-01-02' WHERE id = '${id}';
    REVOKE UPDATE ON packets FROM CURRENT_USER`);
}

async function logged(): Promise<string[]> {
  const { rows } = await database.pool.query(
    `SELECT kind || ' ' || packet_id AS entry FROM packet_log ORDER BY position`,
  );
  return rows.map(({ entry }) => entry);
}

test('an event and those after it wait until its packet can be read; none is skipped', async () => {
  const [first, hidden, last] = [randomUUID(), randomUUID(), randomUUID()];
  await store(first);
  await store(last);
  for (const packetId of [first, hidden, last]) await queue({ kind: 'packet', packetId });

  const round = await appendVisible(connection, NO_HORIZON, findReadable);
  expect(round).toMatchObject({ head: 1, appended: true, more: false, waits: true, horizon: NO_HORIZON });
  expect(await logged()).toEqual([`packet ${first}`]);

  const again = await appendVisible(connection, round.horizon, findReadable);
  expect(again).toMatchObject({ head: 1, appended: false, more: false, horizon: NO_HORIZON });

  await store(hidden);
  const end = await appendVisible(connection, again.horizon, findReadable);
  expect(end).toMatchObject({ head: 3, appended: true, more: false, waits: false });
  expect(Number(end.horizon)).toBeGreaterThan(0);
  expect(await logged()).toEqual([first, hidden, last].map(id => `packet ${id}`));

  // From the horizon on, the next commit is found.
  const next = randomUUID();
  await store(next);
  await queue({ kind: 'packet', packetId: next });
  expect(await appendVisible(connection, end.horizon, findReadable)).toMatchObject({
    head: 4,
    appended: true,
  });
});

test('a message waits until it can be read in its thread too, unless it is erased', async () => {
  const [packetId, erased, threadId] = [randomUUID(), randomUUID(), randomUUID()];
  await store(packetId);
  await queue({ kind: 'chat.message', packetId, threadId });
  const before = (await logged()).length;
  const round = await appendVisible(connection, NO_HORIZON, findReadable);
  expect(round).toMatchObject({ head: before, waits: true });

  await storeMessage(threadId, packetId);
  expect(await appendVisible(connection, NO_HORIZON, findReadable)).toMatchObject({
    head: before + 1,
    waits: false,
  });

  await store(erased);
  await erase(erased);
  await queue(
    { kind: 'chat.message', packetId: erased, threadId },
    { kind: 'erased', packetId: erased, threadId },
  );
  expect(await appendVisible(connection, NO_HORIZON, findReadable)).toMatchObject({ head: before + 3 });
});

test('an erasure waits until the packet can be read as erased', async () => {
  const id = randomUUID();
  await store(id);
  const before = (await logged()).length;
  await queue({ kind: 'packet', packetId: id });
  await queue({ kind: 'erased', packetId: id });
  expect(await appendVisible(connection, NO_HORIZON, findReadable)).toMatchObject({ head: before + 1 });

  await erase(id);
  expect(await appendVisible(connection, NO_HORIZON, findReadable)).toMatchObject({ head: before + 2 });
  expect((await logged()).slice(before)).toEqual([`packet ${id}`, `erased ${id}`]);
});

test('more transactions than one look has are taken by the next, and an empty outbox by none', async () => {
  const ids = Array.from({ length: 70 }, () => randomUUID());
  for (const id of ids) {
    await store(id);
    await queue({ kind: 'packet', packetId: id });
  }
  const before = (await logged()).length;
  const first = await appendVisible(connection, NO_HORIZON, findReadable);
  expect(first).toMatchObject({ head: before + 64, more: true, horizon: NO_HORIZON });
  const second = await appendVisible(connection, first.horizon, findReadable);
  expect(second).toMatchObject({ head: before + 70, more: false });
  expect(await appendVisible(connection, second.horizon, findReadable)).toMatchObject({
    head: before + 70,
    appended: false,
    more: false,
  });
  expect((await logged()).slice(before)).toEqual(ids.map(id => `packet ${id}`));
});
