import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from './helpers/database.ts';
import { startProcess } from './helpers/process.ts';

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

let database: TestDatabase;
let databaseUrl: string;
beforeAll(async () => {
  database = await testDatabase();
  const { host, port, user, password, database: name } = database.connection;
  databaseUrl = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
});
afterAll(() => database.drop());

test('SIGTERM finishes requests in flight; acknowledged writes are stored, and no request fails silently', async () => {
  const service = await startProcess({ DATABASE_URL: databaseUrl });
  const sends = Array.from({ length: 200 }, () =>
    service.send('POST', '/intake/scouting', observation).then(
      answer => answer,
      () => undefined,
    ),
  );
  await Promise.race(sends);
  service.child.kill('SIGTERM');
  const answers = (await Promise.all(sends)).filter(answer => answer !== undefined);
  expect(await service.ended, service.output()).toBe(0);
  const stored = answers.filter(({ status }) => status === 201).map(({ body }) => body.packet_uuid);
  expect(answers.every(({ status }) => status === 201 || status === 503)).toBe(true);
  expect(stored.length).toBeGreaterThan(0);

  const next = await startProcess({ DATABASE_URL: databaseUrl });
  for (const id of stored) expect((await next.send('GET', `/packets/${id}`)).status).toBe(200);
  next.child.kill('SIGTERM');
  expect(await next.ended, next.output()).toBe(0);
});
