import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { added } from './helpers/chain.ts';
import { eventually } from './helpers/eventually.ts';
import { type Answer, type RunningService, runningService, type Send } from './helpers/service.ts';
import { type LoggedIn, PASSWORD, type RunningTrace, runningTrace } from './helpers/trace.ts';

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
/** A small triangle of its own for each number. */
function field(n: number) {
  const west = 29 + n / 10;
  const ring = [
    [west, -1.2],
    [west + 0.001, -1.2],
    [west + 0.001, -1.199],
    [west, -1.2],
  ];
  return { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } };
}
const form = '--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\na\r\n--x--\r\n';
const asForm = { 'content-type': 'multipart/form-data; boundary=x' };

let service: RunningService;
let trace: RunningTrace;
let user: LoggedIn;
let thread: string;
let packet: string;
let product: number;
/** the SQLSTATE of the trouble at hand */
let trouble: string;
let troubles = 0;

beforeAll(async () => {
  [service, trace] = await Promise.all([runningService(), runningTrace()]);
  user = await trace.loggedIn('SYSTEM_ADMIN');
  product = await added(user, { name: 'Tea' });
  thread = (await service.send('POST', '/chat/threads', { name: 'Kivu', created_by: 'ana' })).body.thread_id;
  packet = (await service.send('POST', '/intake/scouting', observation)).body.packet_uuid;
});
afterAll(async () => {
  await Promise.all([service.stop(), trace.stop()]);
});

/** Has the server refuse every write to a service's tables with an error, by its SQLSTATE. */
async function refuseWrites(pool: pg.Pool, schema: string, sqlState: string): Promise<void> {
  await pool.query(`CREATE OR REPLACE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'refused for the test' USING ERRCODE = '${sqlState}'; END $$`);
  await forEachTable(
    pool,
    schema,
    'CREATE OR REPLACE TRIGGER refuse BEFORE INSERT OR UPDATE OR DELETE ON %s EXECUTE FUNCTION refuse()',
  );
}

const takeWrites = (pool: pg.Pool, schema: string) => forEachTable(pool, schema, 'DROP TRIGGER refuse ON %s');

async function forEachTable(pool: pg.Pool, schema: string, statement: string): Promise<void> {
  await pool.query(`DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = '${schema}' LOOP
      EXECUTE format('${statement}', name);
    END LOOP; END $$`);
}

/** One request to each route of the packet service that writes. */
const packetWrites: Record<string, (send: Send) => Promise<Answer>> = {
  'an observation': send => send('POST', '/intake/scouting', observation),
  'an observation with a key': send =>
    send('POST', '/intake/scouting', observation, { 'idempotency-key': `in trouble ${trouble}` }),
  'a message': send =>
    send('POST', '/intake/chat-message', { thread_id: thread, text: 'hello', from_user: 'ana' }),
  'a thread': send => send('POST', '/chat/threads', { name: 'Coffee', created_by: 'ana' }),
  'a new name': send => send('PATCH', `/chat/threads/${thread}`, { name: 'Tea' }),
  'a participant': send => send('POST', `/chat/threads/${thread}/participants`, { user_ids: ['ben'] }),
  'a share': send =>
    send('POST', '/shares', { packet_id: packet, from_user: 'ana', contact_value: `${trouble}@example.org` }),
  'a directory entry': send =>
    send('PUT', '/directory/users/ben', { contacts: ['ben@example.org'], discoverable: true }),
  'a field': send => send('PUT', '/fields', field(troubles)),
  'an attachment': send => send('POST', '/attachments', form, asForm),
  'the beginning of an upload': send =>
    send('POST', '/attachments/uploads', undefined, { 'tus-resumable': '1.0.0', 'upload-length': '1' }),
};

/** One request to each kind of route of the trace backend that writes. */
const traceWrites: Record<string, () => Promise<Answer>> = {
  registration: () =>
    trace.send('POST', '/api/user/register', {
      email: 'new@example.org',
      password: 'maize in the rain',
      name: 'Ana',
      surname: 'Uwase',
    }),
  login: () => trace.send('POST', '/api/user/login', { username: user.email, password: PASSWORD }),
  'a profile': () => user.send('PUT', '/api/user/profile', { name: 'Zawadi' }),
  'a company': () => user.send('POST', '/api/company/create', { name: 'Cooperative' }),
  'a product': () => user.send('POST', '/api/product/create', { name: 'Coffee' }),
  'a change of a product': () => user.send('PUT', '/api/product', { id: product, name: 'Green tea' }),
  'a document': () => user.send('POST', '/api/common/document', form, asForm),
};

test.each([
  ['a full disk', '53100', '10'],
  ['a read-only server', '25006', '5'],
  ['too many connections', '53300', '5'],
  ['a server that shuts down', '57P01', '2'],
  ['a lost connection', '08006', '2'],
])(
  '%s (%s): every writing route of the packet service is 503 with Retry-After, and takes the same request later',
  async (_, sqlState, retryAfter) => {
    trouble = sqlState;
    troubles++;
    await refuseWrites(service.pool, 'packet_service', sqlState);
    const batched = service.send('POST', '/intake/batch', [
      { intake: 'scouting', body: observation },
      { intake: 'scouting', body: observation, idempotency_key: `batch ${sqlState}` },
      { intake: 'scouting', body: {} },
    ]);
    const refused = await Promise.all(
      Object.entries(packetWrites).map(async ([name, write]) => ({ name, ...(await write(service.send)) })),
    );
    for (const { name, status, headers, body } of refused) {
      expect([name, status, Object.keys(body)]).toEqual([name, 503, ['error']]);
      // Packets wait 10 seconds in the writer before they are refused for good; others are refused at once, and so are
      // messages whose new words are.
      const isPatient = /observation|message/.test(name) && /^(53300|57P01|08006)$/.test(sqlState);
      const allowed = isPatient ? (name.includes('message') ? ['5', retryAfter] : ['5']) : [retryAfter];
      expect(allowed, name).toContain(headers.get('retry-after'));
    }
    expect((await batched).body.results.map(({ status }: { status: number }) => status)).toEqual([
      503, 503, 400,
    ]);

    await takeWrites(service.pool, 'packet_service');
    for (const [name, write] of Object.entries(packetWrites)) {
      const { status, text } = await eventually(
        () => write(service.send),
        answer => answer.status !== 503,
      );
      expect(status, `${name}: ${text}`).toBeLessThan(300);
    }
  },
);

test('a full disk: every kind of writing route of the trace backend is 503 with Retry-After in its envelope', async () => {
  for (const sqlState of ['53100', '25006']) {
    await refuseWrites(trace.pool, 'trace_backend', sqlState);
    for (const [name, write] of Object.entries(traceWrites)) {
      const { status, headers, body } = await write();
      expect([name, status, body.status]).toEqual([name, 503, 'UPSTREAM_HTTP_ERROR']);
      expect(headers.get('retry-after')).toMatch(/^\d+$/);
    }
    await takeWrites(trace.pool, 'trace_backend');
  }
  for (const [name, write] of Object.entries(traceWrites)) {
    const { status, text } = await write();
    expect(status, `${name}: ${text}`).toBe(200);
  }
});

test('a conflict with another change is 503 with Retry-After 1', async () => {
  await refuseWrites(service.pool, 'packet_service', '40001');
  const { status, headers } = await service.send('POST', '/chat/threads', { name: 'x', created_by: 'ana' });
  expect([status, headers.get('retry-after')]).toEqual([503, '1']);
  await takeWrites(service.pool, 'packet_service');
});
