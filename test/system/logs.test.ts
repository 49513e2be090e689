import { expect, test } from 'vitest';
import { testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { startProcess } from '../helpers/process.ts';
import { openRelay } from '../helpers/relay.ts';

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

interface Line {
  level: string;
  time: string;
  msg: string;
  service?: string;
  trouble?: string;
  failures?: number;
}

const linesOf = (log: string): Line[] =>
  log
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

test('an outage is logged when it begins and ends, with a count, however many requests fail', async () => {
  const database = await testDatabase();
  const relay = await openRelay(database.connection);
  const { host, port, user, password, database: name } = relay.connection;
  const service = await startProcess({
    DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${name}`,
  });
  const login = { username: 'nobody@example.org', password: 'not a password' };
  const fail = () =>
    Promise.all([
      ...Array.from({ length: 30 }, () => service.send('POST', '/intake/scouting', observation)),
      ...Array.from({ length: 30 }, () => service.send('GET', '/packets')),
      fetch(`${service.traceUrl}/api/user/login`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(login),
      }),
    ]);
  relay.blackHole();
  for (let n = 0; n < 2; n++) for (const { status } of await fail()) expect(status).toBe(503);
  relay.heal();
  await eventually(() => linesOf(service.log()).filter(({ msg }) => msg.startsWith('over: ')).length === 2);

  const lines = linesOf(service.log());
  for (const { level, time } of lines)
    expect([level, time]).toEqual([expect.any(String), expect.any(String)]);
  const about = lines.filter(({ trouble }) => trouble === 'the database is not responding');
  for (const named of ['packet-service', 'trace-backend']) {
    const [began, over, ...more] = about.filter(line => line.service === named);
    expect([began?.level, over?.level, more]).toEqual([expect.stringMatching(/error|warn/), 'info', []]);
    expect(over?.msg).toBe('over: the database is not responding');
  }
  const [, over] = about.filter(line => line.service === 'packet-service');
  expect(over?.failures).toBeGreaterThan(120);
  expect(service.log().length).toBeLessThan(20_000);

  // Standard output is the log's alone; what a person reads at the start is on standard error.
  expect(service.output()).toContain('Send a first observation');
  expect(service.log()).not.toContain('Send a first observation');
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
  await relay.close();
  await database.drop();
}, 240_000);
