import { afterAll, beforeAll, expect, test } from 'vitest';
import { operationsOf } from '../../../test/helpers/definition.ts';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';

const ORIGIN = 'https://app.example';
let service: RunningService;
let thread_id: string;
beforeAll(async () => {
  service = await runningService({ CORS_ORIGINS: ORIGIN });
  const thread = { name: 'x', created_by: 'ana' };
  thread_id = (await service.send('POST', '/chat/threads', thread)).body.thread_id;
});
afterAll(() => service.stop());

const say = (text: string, headers: Record<string, string> = {}) =>
  service.send('POST', '/intake/chat-message', { thread_id, text }, headers);
const HEADER = 'fieldtrace-truncated';

test('the answer to a message whose text is stored truncated names the text, also when it is repeated', async () => {
  for (const text of ['x'.repeat(600), '🌱'.repeat(251), `${'x'.repeat(250)} `]) {
    const key = { 'idempotency-key': `long ${text.length}` };
    const first = await say(text, key);
    expect([first.status, first.headers.get(HEADER)]).toEqual([201, 'text']);
    expect(first.body).toEqual({ packet_uuid: expect.any(String) });
    const again = await say(text, key);
    expect([again.body, again.headers.get(HEADER)]).toEqual([first.body, 'text']);
    const { body } = await service.send('GET', `/packets/${first.body.packet_uuid}`);
    expect([...body.Body.text].length).toBe(250);
  }
  for (const text of ['x'.repeat(250), '🌱'.repeat(250), 'short']) {
    expect((await say(text)).headers.has(HEADER)).toBe(false);
  }
  const refused = await service.send('POST', '/intake/chat-message', {
    text: 'x'.repeat(600),
    thread_id: 'none',
  });
  expect([refused.status, refused.headers.has(HEADER)]).toEqual([404, false]);
});

test('the result of an item of a batch whose text is stored truncated names the text', async () => {
  const location = { lat: 1, lon: 2 };
  const batch = [
    { intake: 'chat-message', body: { thread_id, text: 'x'.repeat(600) } },
    { intake: 'chat-message', body: { thread_id, text: 'short' } },
    {
      intake: 'scouting',
      body: { observed_at: '2026-03-01T08:15:00Z', capture_point: location, text: 'x'.repeat(600) },
    },
  ];
  const id = expect.any(String);
  const results = [{ packet_uuid: id, truncated: ['text'] }, { packet_uuid: id }, { packet_uuid: id }];
  const key = { 'idempotency-key': 'long batch' };
  const first = await service.send('POST', '/intake/batch', batch, key);
  expect(first.body).toEqual({ results });
  expect((await service.send('POST', '/intake/batch', batch, key)).body).toEqual(first.body);
  const lines = batch.map(item => JSON.stringify(item)).join('\n');
  const ndjson = await service.send('POST', '/intake/batch', lines, {
    'content-type': 'application/x-ndjson',
  });
  expect(
    ndjson.text
      .trim()
      .split('\n')
      .map(line => JSON.parse(line)),
  ).toEqual(results);
});

test('pages of other origins can read every header that the definition names', async () => {
  const { headers } = await say('x', { origin: ORIGIN });
  const exposed = headers.get('access-control-expose-headers')?.toLowerCase().split(', ') ?? [];
  const { body } = await service.send('GET', '/openapi.json');
  const named = [...JSON.stringify(body).matchAll(/"headers":\{"([^"]+)"/g)].map(match => match[1] as string);
  expect(named).toContain(HEADER);
  for (const name of [...named, 'date', 'fields-left-out', 'idempotency-replayed'])
    expect(exposed).toContain(name);
});

test('the definition has the header and the field of items', async () => {
  const operations = await operationsOf(service.send, '/openapi.json');
  const batch = operations.find(({ path }) => path === '/intake/batch');
  const item = batch?.responses['200']?.['application/x-ndjson'];
  expect(item.properties.truncated).toMatchObject({ type: 'array', items: { type: 'string' } });
  const { body } = await service.send('GET', '/openapi.json');
  const { headers } = body.paths['/intake/chat-message'].post.responses['201'];
  expect(headers[HEADER]).toMatchObject({ schema: { type: 'string' } });
});
