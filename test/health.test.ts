import { expect, inject, test } from 'vitest';
import { administer } from './helpers/database.ts';
import { runningService } from './helpers/service.ts';

test('health is OK while the database answers, and 503 with another status when it does not', async () => {
  const service = await runningService();
  const healthy = await service.send('GET', '/health');
  expect([healthy.status, healthy.body]).toEqual([
    200,
    { status: 'OK', service: 'packet-service', version: expect.stringMatching(/^\d+\.\d+\.\d+$/) },
  ]);

  const { rows } = await service.pool.query('SELECT current_database() AS name');
  const server = inject('databaseServer');
  await administer(server, `ALTER DATABASE ${rows[0].name} ALLOW_CONNECTIONS false`);
  await administer(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${rows[0].name}'`,
  );
  const sick = await service.send('GET', '/health');
  expect([sick.status, sick.body.status]).toEqual([503, 'DATABASE_UNREACHABLE']);

  await administer(server, `ALTER DATABASE ${rows[0].name} ALLOW_CONNECTIONS true`);
  expect((await service.send('GET', '/health')).status).toBe(200);
  await service.stop();
});
