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

/** What the catalogues of each server say about a database in which `distribute` has run. */
async function distributed(migrate: Parameters<typeof makeDistributed>[2]): Promise<string[][]> {
  const database = `baseline_${randomUUID().replaceAll('-', '')}`;
  databases.push(database);
  await makeDistributed(server, database, migrate);
  const { administrator, workers } = server.cluster as NonNullable<typeof server.cluster>;
  const catalogues: string[][] = [];
  for (const { host, port } of [server, ...workers]) {
    const client = new pg.Client({ ...administrator, host, port, database });
    await client.connect();
    catalogues.push(await catalogueOf(client, OWN).finally(() => client.end()));
  }
  return catalogues;
}

test('after distribute, every server has the same tables from the baselines as from the migrations they replace', async () => {
  const replaced = await distributed(async (owner, service) => {
    await migrateAsBefore(owner, service);
    await migrateNow(owner, service);
  });
  const made = await distributed(async (owner, service) => {
    await migrateNow(owner, service);
  });
  expect(made.length).toBeGreaterThan(1);
  for (const [at, catalogue] of made.entries()) {
    expect(catalogue.some(line => /^pg_class .*packet_log|^pg_class .*"packets_\d+"/.test(line))).toBe(true);
    expect(differences(replaced[at] as string[], catalogue), `server ${at}`).toEqual(SAME);
  }
});
