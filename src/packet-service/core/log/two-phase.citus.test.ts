import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { notePacket } from '../../../../test/helpers/writes.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

const STATEMENTS = {
  packet_log_queue: `INSERT INTO packet_log_queue (kinds, packet_ids) VALUES ('{packet}', ARRAY[$1::uuid])`,
  idempotency_keys: `INSERT INTO idempotency_keys (caller, route, key, fingerprint, status, answer, created_at)
    VALUES ('', 'POST /test', $1::uuid::text, '', 201, '{}', now())`,
  erasures: `INSERT INTO erasures (packet_id, erased_at, reason) VALUES ($1, now(), 'test')`,
};

/** Stores a packet and a row of the coordinator; returns whether a worker prepared the commit. */
async function commitsInTwoPhases(statement: string): Promise<boolean> {
  const { id } = notePacket();
  const client = await database.pool.connect();
  await client.query('BEGIN');
  await client.query(
    `INSERT INTO packets (id, geoid, ts, type, header, body, footer) VALUES ($1, '', now(), 'note', '{}', '{}', '{}')`,
    [id],
  );
  await client.query(statement, [id]);
  await client.query('COMMIT');
  const { rowCount } = await client.query(
    "SELECT FROM pg_dist_transaction WHERE gid LIKE 'citus_0_' || pg_backend_pid() || '_%'",
  );
  client.release();
  return (rowCount as number) > 0;
}

test.each(Object.entries(STATEMENTS))(
  'a packet and its row in %s, which are on two servers of a cluster, commit together',
  async (_table, statement) => {
    // Again where the coordinator has just forgotten what is complete.
    expect(await eventually(() => commitsInTwoPhases(statement))).toBe(true);
  },
);
