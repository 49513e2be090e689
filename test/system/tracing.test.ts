import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CollectedSpan, openCollector } from '../helpers/collector.ts';
import { asService, type TestDatabase, testDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';

const observation = {
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1, lon: 2 },
  message: 'rust on the leaves of plot 7',
};

let database: TestDatabase;
let common: Record<string, string>;
beforeAll(async () => {
  database = await testDatabase();
  const { host, port, user, password, database: name } = asService(database.connection);
  common = {
    DATABASE_URL: `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`,
    TRACE_ADMIN_EMAIL: 'admin@example.org',
    TRACE_ADMIN_PASSWORD: 'an administrator',
    // Spans leave soon, so that tests do not wait.
    OTEL_BSP_SCHEDULE_DELAY: '50',
  };
});
afterAll(() => database.drop());

async function stop(service: RunningProcess): Promise<void> {
  service.child.kill('SIGTERM');
  expect(await service.ended, service.output()).toBe(0);
}

test('a request is a tree of spans: its route, the handler, and statements by name, without values', async () => {
  const collector = await openCollector();
  const service = await startProcess({ ...common, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  const { status, body } = await service.send('POST', '/intake/scouting', observation, {
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  });
  expect(status).toBe(201);
  await service.send('GET', `/packets/${body.packet_uuid}?nothing=hunter2`);
  const root = await eventually(() => collector.spans.find(({ name }) => name === 'POST /intake/scouting'));
  expect(root).toMatchObject({
    traceId: '0af7651916cd43dd8448eb211c80319c',
    parentSpanId: 'b7ad6b7169203331',
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/intake/scouting',
      'http.response.status_code': 201,
    },
  });
  const childrenOf = (span: CollectedSpan | undefined) =>
    collector.spans.filter(({ parentSpanId }) => parentSpanId === span?.spanId);
  const handler = await eventually(() => childrenOf(root).find(({ name }) => name.startsWith('handler')));
  const statements = await eventually(
    () => childrenOf(handler).map(({ name }) => name),
    names => names.includes('insert_packets_1'),
  );
  // What a batch sends together is one span.
  expect(statements).not.toContain('queue_events');
  const insert = collector.spans.find(({ name }) => name === 'insert_packets_1');
  expect(insert?.attributes).toMatchObject({ 'db.statement.name': 'insert_packets_1' });
  await eventually(() => collector.spans.some(({ name }) => name === 'GET /packets/:id'));
  await stop(service);
  const everything = collector.texts.join('\n');
  expect(everything).toContain('/v1/traces');
  expect(everything).not.toMatch(/rust on the leaves|hunter2|INSERT INTO|an administrator/);
  expect(everything).not.toContain(body.packet_uuid);
  await collector.close();
});

test('a stop exports waiting spans', async () => {
  const collector = await openCollector();
  const service = await startProcess({
    ...common,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '3600000',
  });
  await service.send('GET', '/health/live');
  expect(collector.spans).toEqual([]);
  await stop(service);
  expect(collector.spans.map(({ name }) => name)).toContain('GET /health/live');
  await collector.close();
});

test('an unreachable or silent collector disturbs neither requests nor a stop', async () => {
  const collector = await openCollector();
  collector.hang();
  for (const endpoint of ['http://127.0.0.1:1', collector.url]) {
    const service = await startProcess({ ...common, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    for (let n = 0; n < 20; n++)
      expect((await service.send('POST', '/intake/scouting', observation)).status).toBe(201);
    if (endpoint === collector.url) await eventually(() => collector.texts.length > 0);
    await stop(service);
    expect(service.log()).not.toContain('"level":"error"');
  }
  await collector.close();
});

test('OpenTelemetry is not loaded without the setting', async () => {
  // Lists the modules of packages when the process ends. prom-client loads the API alone, which does nothing.
  const preload = path.join(import.meta.dirname, '../fixtures/loaded-modules.mjs');
  const environment = { ...common, NODE_OPTIONS: `--import=${preload}` };
  const ofTracing = /@opentelemetry\/(?!api\/)|@fastify\/otel/;
  const traced = await startProcess({ ...environment, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' });
  await stop(traced);
  expect(traced.output()).toMatch(ofTracing);
  const service = await startProcess(environment);
  await service.send('POST', '/intake/scouting', observation);
  await stop(service);
  expect(service.output()).toContain('prom-client');
  expect(service.output()).not.toMatch(ofTracing);
});
