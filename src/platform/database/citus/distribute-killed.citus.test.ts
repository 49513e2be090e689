import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { administer, dropDatabase } from '../../../../test/helpers/database.ts';
import { migratePacketService } from '../../../packet-service/app.ts';
import { PLACEMENTS } from '../../../packet-service/core/contract/placements.ts';
import { SCHEMA } from '../../../packet-service/core/pools.ts';
import { passingTrouble } from '../troubles.ts';
import { DistributeError, distribute } from './distribute.ts';
import { tablesWithShards } from './placements.ts';
import { commitsInTwoPhases } from './two-phase.ts';

const ROWS = 2000;
const name = `test_${randomUUID().replaceAll('-', '')}`;
const { cluster, ...server } = inject('databaseServer');
const owner = { ...server, ...cluster?.administrator, database: name };
let client: pg.Client;

beforeAll(async () => {
  await administer({ ...server, cluster }, `CREATE DATABASE ${name}`);
  await migratePacketService(owner);
  client = new pg.Client(owner);
  await client.connect();
  await client.query(`SET search_path = ${SCHEMA}`);
  await client.query(
    `WITH ids AS (SELECT gen_random_uuid() AS id FROM generate_series(1, $1)), made AS (
      INSERT INTO packets (id, geoid, ts, type, header, body, footer)
      SELECT id, '', now(), 'note', '{}', '{}', '{}' FROM ids RETURNING id)
    INSERT INTO packet_geoids (packet_id, geoid, ts) SELECT id, 'a', now() FROM made`,
    [ROWS],
  );
});
afterAll(async () => {
  await client.end();
  await dropDatabase({ ...server, cluster }, name);
});

/** @param onStep called with the number of each step when it begins, from 0 */
async function attempt(onStep: (number: number) => void): Promise<string[]> {
  const steps: string[] = [];
  const distribution = {
    owner,
    schema: SCHEMA,
    placements: PLACEMENTS,
    workers: cluster?.workers ?? [],
    shards: 4,
  };
  await distribute({ ...distribution, dryRun: false, onStep: step => onStep(steps.push(step) - 1) });
  return steps;
}

/** Ends the session of the distribution while it works. */
async function kill(): Promise<void> {
  await client.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE application_name = 'fieldtrace distribute' AND datname = current_database()`,
  );
}

/** Distributes; each attempt is killed at its second step. Returns how many were. */
async function distributeKilled(): Promise<number> {
  for (let kills = 0; ; ) {
    let killing: Promise<void> | undefined;
    try {
      await attempt(number => {
        if (number === 1) killing = kill();
      });
      await killing;
      return kills;
    } catch (error) {
      await killing;
      const isLocked =
        error instanceof DistributeError && /another fieldtrace distribute/.test(error.message);
      const isKilled = passingTrouble(error)?.kind === 'away';
      if (!isLocked && !isKilled) throw error;
      if (isKilled) kills++;
    }
  }
}

test('a distribution that is killed at every step is finished when it is repeated, with each row once', async () => {
  expect(await distributeKilled()).toBeGreaterThan(5);
  expect(await attempt(() => {})).toEqual([]);

  for (const table of tablesWithShards(PLACEMENTS))
    expect(await commitsInTwoPhases(client, SCHEMA, table)).toBe(true);
  const { rows } = await client.query(
    `SELECT (SELECT count(*)::int FROM packets) AS packets, (SELECT count(*)::int FROM packet_geoids) AS geoids,
       (SELECT count(DISTINCT nodeport)::int FROM citus_shards WHERE citus_table_type = 'distributed') AS servers, pg_relation_size('packets')::int AS here`,
  );
  expect(rows).toEqual([{ packets: ROWS, geoids: ROWS, servers: cluster?.workers.length, here: 0 }]);
});
