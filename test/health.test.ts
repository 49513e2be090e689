import { afterEach, expect, inject, test } from 'vitest';
import { packetHash } from '../src/packet-service/core/packet-format/hash.ts';
import { canonicalJson } from '../src/packet-service/core/packet-format/jcs.ts';
import { newUlid } from '../src/packet-service/core/packet-format/ulid.ts';
import { administer } from './helpers/database.ts';
import { eventually } from './helpers/eventually.ts';
import { openRelay, type Relay } from './helpers/relay.ts';
import { type Answer, type RunningService, runningService } from './helpers/service.ts';
import { runningTrace } from './helpers/trace.ts';

interface Packet {
  Header: object;
  Body: object;
  Footer: object;
}

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
const VERSION = expect.stringMatching(/^\d+\.\d+\.\d+(-rc\.\d+)?$/);

const opened: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function start(): Promise<RunningService> {
  const service = await runningService();
  opened.push(service.stop);
  return service;
}

async function startTrace(): Promise<RunningService> {
  const trace = await runningTrace();
  opened.push(trace.stop);
  return trace;
}

/** A service whose way to its database can fail, and the same database for the test itself. */
async function startBehindRelay(): Promise<{ service: RunningService; relay: Relay; near: RunningService }> {
  const near = await start();
  const relay = await openRelay(near.connection);
  opened.push(relay.close);
  const service = await runningService({}, { ...near, connection: relay.connection });
  opened.push(service.stop);
  return { service, relay, near };
}

const nameOf = async ({ pool }: RunningService) =>
  (await pool.query('SELECT current_database() AS name')).rows[0].name as string;

/** The status that /health comes to. */
const becomes = ({ send }: Pick<RunningService, 'send'>, code: number, status: string) =>
  eventually(
    () => send('GET', '/health'),
    answer => answer.status === code && answer.body.status === status,
  );

/** The packet under another id, as a client finalizes it. */
function withId({ Header, Body, Footer }: Packet, id: string): Packet {
  const header = { ...Header, id };
  const hash = packetHash(canonicalJson(header), canonicalJson(Body));
  return { Header: header, Body, Footer: { ...Footer, hash } };
}

const observe = ({ send }: RunningService) => send('POST', '/intake/scouting', observation);

test("both services report OK in the interface's shape, with details for operators and a liveness check", async () => {
  const trace = await startTrace();
  for (const [service, { send }] of Object.entries({
    'packet-service': await start(),
    'trace-backend': trace,
  })) {
    const about = { status: 'OK', service, version: VERSION };
    const details = service === 'packet-service' ? [{ name: 'clock', status: 'OK' }] : [];
    for (const [path, body] of Object.entries({
      '/health': about,
      '/health/live': about,
      '/health/ready': { ...about, details },
    })) {
      const answer = await send('GET', path);
      expect([answer.status, answer.body], path).toEqual([200, body]);
    }
  }
});

test.each(['packet service', 'trace backend'])(
  'a database that takes no connections makes the %s 503, and the process still lives',
  async name => {
    const service = name === 'packet service' ? await start() : await startTrace();
    const server = inject('databaseServer');
    const database = await nameOf(service);
    await becomes(service, 200, 'OK');
    await administer(server, `ALTER DATABASE ${database} ALLOW_CONNECTIONS false`);
    await administer(
      server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
    );
    await becomes(service, 503, 'DATABASE_UNREACHABLE');
    expect((await service.send('GET', '/health/ready')).status).toBe(503);
    expect((await service.send('GET', '/health/live')).status).toBe(200);

    await administer(server, `ALTER DATABASE ${database} ALLOW_CONNECTIONS true`);
    await becomes(service, 200, 'OK');
  },
);

test('a silent database makes health 503, and requests get 503 with Retry-After', async () => {
  const { service, relay } = await startBehindRelay();
  expect((await observe(service)).status).toBe(201);
  relay.blackHole();
  const answers = await Promise.all([observe(service), service.send('GET', '/packets')]);
  expect(answers.map(({ status }) => status)).toEqual([503, 503]);
  for (const { headers } of answers) expect(headers.get('retry-after')).toMatch(/^\d+$/);
  await becomes(service, 503, 'DATABASE_UNREACHABLE');
  relay.heal();
  await becomes(service, 200, 'OK');
  expect((await observe(service)).status).toBe(201);
});

test('after a failover that left every open connection dead, packets are stored without one refusal, observations once when sent again', async () => {
  const { service, relay, near } = await startBehindRelay();
  const finalized = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { packet_uuid } = (await observe(near)).body;
      return (await near.send('GET', `/packets/${packet_uuid}`)).body;
    }),
  );
  const [first, ...packets] = finalized.map(packet => withId(packet, newUlid()));
  const untilTaken = (n: number) =>
    eventually(
      () => service.send('POST', '/intake/scouting', { ...observation, n }, { 'idempotency-key': `${n}` }),
      ({ status }) => status === 201,
    );
  await service.send('POST', '/packets', first);
  await untilTaken(0);

  relay.failOver();
  const [stored, taken] = await Promise.all([
    Promise.all(packets.map(packet => service.send('POST', '/packets', packet))),
    Promise.all(Array.from({ length: 20 }, (_, n) => untilTaken(n + 1))),
  ]);
  expect(stored.map(({ status }) => status)).toEqual(Array(19).fill(201));
  const ids = new Set([...stored, ...taken].map(({ body }) => body.packet_uuid));
  expect(ids.size).toBe(39);
  const { rows } = await near.pool.query('SELECT count(*)::int AS count FROM packets');
  expect(rows[0].count).toBe(20 + 2 + 39);
});

test('health is 503 and reads continue while a lock blocks the writing of packets', async () => {
  const service = await start();
  const { packet_uuid } = (await observe(service)).body;
  const holder = await service.pool.connect();
  await holder.query('BEGIN');
  await holder.query('CREATE INDEX ON packets (ts)');
  const refused = await observe(service);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  await becomes(service, 503, 'WRITER_HUNG');
  expect((await service.send('GET', `/packets/${packet_uuid}`)).status).toBe(200);
  await holder.query('ROLLBACK');
  holder.release();
  await becomes(service, 200, 'OK');
  expect((await observe(service)).status).toBe(201);
});

test('health stays 200 with WRITES_REFUSED on a read-only server; reads continue, and writes after the failover', async () => {
  const service = await start();
  const server = inject('databaseServer');
  const name = await nameOf(service);
  const { packet_uuid } = (await observe(service)).body;
  await administer(server, `ALTER DATABASE ${name} SET default_transaction_read_only = on`);
  await administer(
    server,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
  );

  const refused = await eventually(
    () => observe(service),
    ({ body }) => /not accepting writes/.test(body.error),
  );
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  await becomes(service, 200, 'WRITES_REFUSED');
  expect((await service.send('GET', '/metrics')).text).toMatch(/^writes_refused\{.*\} 1$/m);
  expect((await service.send('GET', `/packets/${packet_uuid}`)).status).toBe(200);
  const thread = await service.send('POST', '/chat/threads', { name: 'Kivu', created_by: 'ana' });
  expect(thread.status).toBe(503);

  // Connections that were refused are not used again: no restart, no termination is needed.
  await administer(server, `ALTER DATABASE ${name} RESET default_transaction_read_only`);
  await eventually(
    () => observe(service),
    ({ status }) => status === 201,
  );
  await becomes(service, 200, 'OK');
  expect((await service.send('GET', '/metrics')).text).toMatch(/^writes_refused\{.*\} 0$/m);
});

test('health answers at once, whatever the database does', async () => {
  const { service, relay } = await startBehindRelay();
  await becomes(service, 200, 'OK');
  relay.blackHole();
  const answers: Answer[] = await Promise.all(
    Array.from({ length: 50 }, () => service.send('GET', '/health')),
  );
  expect(answers.every(({ body }) => body.status === 'OK')).toBe(true);
});

test('a service with a silent database still stops', async () => {
  const { service, relay } = await startBehindRelay();
  await becomes(service, 200, 'OK');
  relay.blackHole();
  // Every part of it that works in the background has met the silence.
  await becomes(service, 503, 'DATABASE_UNREACHABLE');
  opened.splice(opened.indexOf(service.stop), 1);
  await service.stop();
}, 50_000);

test('health checks are exempt from limits by address', async () => {
  const limits = { TRUST_PROXY: '1', RATE_LIMIT: 'on' };
  const trace = await runningTrace(limits);
  opened.push(trace.stop);
  const service = await runningService(limits);
  opened.push(service.stop);
  const far = { 'x-forwarded-for': '192.0.2.7' };
  const paths = ['/health', '/health/live', '/health/ready'];
  const keys = '/.well-known/jwks.json';
  const other = { trace: '/v3/api-docs', service: '/vocab' };
  for (const [name, { send }] of Object.entries({ trace, service })) {
    const counted = await send('GET', other[name as keyof typeof other], undefined, far);
    expect(counted.headers.has('x-ratelimit-remaining'), name).toBe(true);
    for (const method of ['GET', 'HEAD']) {
      for (const path of paths) {
        const { headers } = await send(method, path, undefined, far);
        expect([name, path, headers.has('x-ratelimit-remaining')]).toEqual([name, path, false]);
      }
    }
  }
  for (let sent = 0; sent < 1200; sent += 100) {
    await Promise.all(Array.from({ length: 100 }, () => trace.send('GET', keys, undefined, far)));
  }
  expect((await trace.send('GET', keys, undefined, far)).status).toBe(429);
  for (const path of paths) expect((await trace.send('GET', path, undefined, far)).status).not.toBe(429);
});
