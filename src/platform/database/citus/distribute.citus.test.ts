import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { PLACEMENTS } from '../../../packet-service/core/contract/placements.ts';
import { SCHEMA } from '../../../packet-service/core/pools.ts';
import { distribute } from './distribute.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());

/** What distributing the database again does: it is a clone, which lacks the settings alone. */
async function distributeAgain(): Promise<string[]> {
  const steps: string[] = [];
  const workers = inject('databaseServer').cluster?.workers ?? [];
  const distribution = {
    owner: database.connection,
    schema: SCHEMA,
    placements: PLACEMENTS,
    workers,
    shards: 4,
  };
  await distribute({ ...distribution, dryRun: false, onStep: step => steps.push(step) });
  return steps;
}

test('every server reads a shard without compiling the statement or starting further processes', async () => {
  const steps = await distributeAgain();
  expect(
    steps.filter(step => !/: ALTER DATABASE "\w+" SET (jit|max_parallel_workers_per_gather) = /.test(step)),
  ).toEqual([]);
  for (const setting of ['jit=off', 'max_parallel_workers_per_gather=0']) {
    const { rows } = await database.pool.query({
      text: 'SELECT success, result FROM run_command_on_all_nodes($1)',
      values: [
        `SELECT EXISTS (SELECT FROM pg_db_role_setting JOIN pg_database AS database ON database.oid = setdatabase
           WHERE datname = current_database() AND '${setting}' = ANY (setconfig))`,
      ],
    });
    expect(rows.length).toBeGreaterThan(1);
    for (const row of rows) expect(row).toEqual({ success: true, result: 't' });
  }
  expect(await distributeAgain()).toEqual([]);
});
