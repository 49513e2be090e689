import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService({
    CORS_ORIGINS: 'https://field.example,https://map.example',
    TRUST_PROXY: 'true',
  });
});
afterAll(() => service.stop());

test('a page of an origin that is named may read answers; a page of another one may not', async () => {
  const ask = (origin: string) => service.send('GET', '/packets', undefined, { origin });
  for (const origin of ['https://field.example', 'https://map.example']) {
    expect((await ask(origin)).headers.get('access-control-allow-origin')).toBe(origin);
  }
  expect((await ask('https://evil.example')).headers.get('access-control-allow-origin')).not.toBe(
    'https://evil.example',
  );
  const preflight = await service.send('OPTIONS', '/intake/scouting', undefined, {
    origin: 'https://field.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type, idempotency-key',
  });
  expect(preflight.status).toBe(204);
  expect((await service.send('GET', '/nothing')).status).toBe(404);
  expect(preflight.headers.get('access-control-allow-headers')).toContain('idempotency-key');
});

test('an address that asks too much is told when to come back; others and loopback go on', async () => {
  const ask = (address?: string) =>
    service.send('GET', '/packets?limit=1', undefined, address ? { 'x-forwarded-for': address } : {});
  const remaining = Number((await ask('192.0.2.7')).headers.get('x-ratelimit-remaining'));
  expect(remaining).toBeGreaterThan(1000);
  const answers = new Map<number, number>();
  let refused: Awaited<ReturnType<typeof ask>> | undefined;
  for (let sent = 0; sent < remaining + 10; sent += 100) {
    for (const answer of await Promise.all(Array.from({ length: 100 }, () => ask('192.0.2.7')))) {
      answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
      if (answer.status === 429) refused = answer;
    }
  }
  expect(answers.get(200)).toBe(remaining);
  expect(refused?.body).toEqual({ error: expect.stringContaining('too many requests') });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await ask('192.0.2.8')).status).toBe(200);
  expect((await ask()).status).toBe(200);
});

test('/metrics tells how long requests took, by route and not by path', async () => {
  await service.send('GET', '/packets/01JD7Q2M8XW3N5R6T8V9Y0Z1A2');
  const { text, headers } = await service.send('GET', '/metrics');
  expect(headers.get('content-type')).toMatch(/^text\/plain/);
  expect(text).toMatch(
    /http_request_duration_seconds_count\{[^}]*route="\/packets\/:id"[^}]*status="404"[^}]*\} 1/,
  );
  expect(text).not.toContain('01JD7Q2M8XW3N5R6T8V9Y0Z1A2');
  expect(text).toContain('process_resident_memory_bytes');
});
