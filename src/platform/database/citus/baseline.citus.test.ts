import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, inject, test } from 'vitest';
import { catalogueOf, differences, SAME } from '../../../../test/helpers/catalogue.ts';
import { makeDistributed } from '../../../../test/helpers/citus-setup.ts';
import { type DatabaseServer, dropDatabase } from '../../../../test/helpers/database.ts';
import { migrateAsBefore, migrateNow } from '../../../../test/helpers/replaced.ts';

const server = inject('databaseServer') as Required<DatabaseServer>;
const databases: string[] = [];
afterAll(async () => {
  for (const name of databases) await dropDatabase(server, name);
});

/** Catalogues of Citus with what happened in a database, and the id that each database has. */
const OWN = ['pg_dist_cleanup', 'pg_dist_node_metadata', 'pg_dist_transaction'];

type Migrate = Parameters<typeof makeDistributed>[2];

/**
 * What the catalogues of each server say about a database in which `distribute` has run.
 *
 * @param migrate done before it
 * @param later done after it; by default the next start of a service, which gives rights on the tables that it made
 */
async function distributed(migrate: Migrate, later: Migrate = migrateAgain): Promise<string[][]> {
  const database = `baseline_${randomUUID().replaceAll('-', '')}`;
  databases.push(database);
  let roles: Parameters<Migrate> | undefined;
  await makeDistributed(server, database, async (...both) => {
    roles = both;
    await migrate(...both);
  });
  await later(...(roles as Parameters<Migrate>));
  const { administrator, workers } = server.cluster as NonNullable<typeof server.cluster>;
  const catalogues: string[][] = [];
  for (const { host, port } of [server, ...workers]) {
    const client = new pg.Client({ ...administrator, host, port, database });
    await client.connect();
    // Shards are not hidden.
    await client.query('SET citus.override_table_visibility = off');
    catalogues.push(await catalogueOf(client, OWN).finally(() => client.end()));
  }
  return catalogues;
}

const migrateAgain: Migrate = async (owner, service) => {
  expect(await migrateNow(owner, service)).toEqual([[], []]);
};
const upToDate: Migrate = async (owner, service) => {
  expect(await migrateNow(owner, service)).toEqual([['100-baseline.sql'], ['100-baseline.sql']]);
};

test('every server of a cluster has the same tables from the baselines as from the migrations they replace', async () => {
  const made = await distributed(upToDate);
  expect(made.length).toBeGreaterThan(1);
  for (const [at, catalogue] of made.entries()) {
    const shards = catalogue.filter(line => /^pg_class {"relname":"chat_messages_\d+"/.test(line));
    expect(shards.length > 0).toBe(at > 0);
  }
  const before = await distributed(async (owner, service) => {
    await migrateAsBefore(owner, service);
    await upToDate(owner, service);
  });
  const after = await distributed(migrateAsBefore, upToDate);
  for (const replaced of [before, after]) {
    for (const [at, catalogue] of made.entries()) {
      expect(differences(replaced[at] as string[], catalogue), `server ${at}`).toEqual(SAME);
    }
  }
});
