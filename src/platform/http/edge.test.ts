import { request } from 'node:http';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { share, somebody, storedPacket } from '../../../test/helpers/sharing.ts';
import { runningTrace } from '../../../test/helpers/trace.ts';
import { readSettings } from '../settings/settings.ts';
import { reachableBecause } from './hosts.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService({
    CORS_ORIGINS: 'https://field.example,https://map.example',
    TRUST_PROXY: 'true',
  });
});
afterAll(() => service.stop());

test('a page of an origin that is named may read answers; a page of another one may not', async () => {
  const fromOrigin = (origin: string) => service.send('GET', '/packets', undefined, { origin });
  for (const origin of ['https://field.example', 'https://map.example']) {
    expect((await fromOrigin(origin)).headers.get('access-control-allow-origin')).toBe(origin);
  }
  expect((await fromOrigin('https://evil.example')).headers.get('access-control-allow-origin')).not.toBe(
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

test('an address with too many requests gets a Retry-After; others and loopback continue', async () => {
  const fromAddress = (address?: string) =>
    service.send('GET', '/packets?limit=1', undefined, address ? { 'x-forwarded-for': address } : {});
  const remaining = Number((await fromAddress('192.0.2.7')).headers.get('x-ratelimit-remaining'));
  expect(remaining).toBeGreaterThan(1000);
  const answers = new Map<number, number>();
  let refused: Awaited<ReturnType<typeof fromAddress>> | undefined;
  for (let sent = 0; sent < remaining + 10; sent += 100) {
    for (const answer of await Promise.all(Array.from({ length: 100 }, () => fromAddress('192.0.2.7')))) {
      answers.set(answer.status, (answers.get(answer.status) ?? 0) + 1);
      if (answer.status === 429) refused = answer;
    }
  }
  expect(answers.get(200)).toBe(remaining);
  expect(refused?.body).toEqual({ error: expect.stringContaining('too many requests') });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await fromAddress('192.0.2.8')).status).toBe(200);
  expect((await fromAddress()).status).toBe(200);
});

test('/metrics has the durations of requests, by route and not by path', async () => {
  await service.send('GET', '/packets/01JD7Q2M8XW3N5R6T8V9Y0Z1A2');
  const { text, headers } = await service.send('GET', '/metrics');
  expect(headers.get('content-type')).toMatch(/^text\/plain/);
  expect(text).toMatch(
    /http_request_duration_seconds_count\{[^}]*route="\/packets\/:id"[^}]*status="404"[^}]*\} 1/,
  );
  expect(text).not.toContain('01JD7Q2M8XW3N5R6T8V9Y0Z1A2');
  expect(text).toContain('process_resident_memory_bytes');
});

test('/metrics counts requests to no route by their method, in the last bucket too', async () => {
  const counts = async () => {
    const { text } = await service.send('GET', '/metrics');
    return ['GET', 'POST'].flatMap(method =>
      ['_bucket', '_count'].map(suffix => {
        const labels = [`method="${method}"`, 'route="none"', 'status="404"'];
        const line = text
          .split('\n')
          .filter(row => row.startsWith(`http_request_duration_seconds${suffix}{`))
          .findLast(row => labels.every(label => row.includes(label)));
        return Number(line?.split(' ').at(-1) ?? 0);
      }),
    );
  };
  const before = await counts();
  for (const method of ['GET', 'GET', 'POST']) await service.send(method, '/nowhere');
  expect((await counts()).map((count, at) => count - (before[at] as number))).toEqual([2, 2, 1, 1]);
});

describe('behind proxies', () => {
  /** Which address a request is counted for: asked of a header that limits give every address. */
  async function remaining(at: RunningService, forwarded: string): Promise<number> {
    const answer = await at.send('GET', '/packets?limit=1', undefined, { 'x-forwarded-for': forwarded });
    expect(answer.status, answer.text).toBe(200);
    return Number(answer.headers.get('x-ratelimit-remaining') ?? Number.NaN);
  }

  test('TRUST_PROXY=true is one hop: the rightmost address counts, whatever a client wrote left of it', async () => {
    const first = await remaining(service, '198.51.100.1');
    expect(await remaining(service, '203.0.113.9, 198.51.100.1')).toBe(first - 1);
    expect(await remaining(service, 'unknown, 127.0.0.1, 198.51.100.1')).toBe(first - 2);
    expect(await remaining(service, '198.51.100.1:4711')).toBe(first - 3);
    const other = await remaining(service, '[2001:db8::1]:4711');
    expect(await remaining(service, '2001:db8::1')).toBe(other - 1);
  });

  test('a forwarded loopback address, and one that is no address, is counted like any other', async () => {
    for (const forwarded of ['127.0.0.1', '::1', '::ffff:127.0.0.1', 'localhost', 'unknown', '']) {
      const first = await remaining(service, forwarded);
      expect(await remaining(service, forwarded), forwarded).toBe(first - 1);
    }
  });

  test("a number of hops and a list of networks find the rightmost address that is not a proxy's", async () => {
    const hops = await runningService({ TRUST_PROXY: '2' }, service);
    const first = await remaining(hops, '198.51.100.2, 10.0.0.1');
    expect(await remaining(hops, '203.0.113.9, 198.51.100.2, 10.0.0.2')).toBe(first - 1);
    await hops.stop();

    const networks = await runningService({ TRUST_PROXY: '127.0.0.0/8, 10.0.0.0/8,2001:db8::/32' }, service);
    const start = await remaining(networks, '198.51.100.3, 10.0.0.1');
    expect(await remaining(networks, '203.0.113.9, 198.51.100.3')).toBe(start - 1);
    expect(await remaining(networks, '198.51.100.3, 10.9.9.9, 2001:db8::7')).toBe(start - 2);
    await networks.stop();
  });

  test('networks that are none keep the service from starting', async () => {
    for (const wrong of ['yes', '-1', '11', '10.0.0.0/33', '10.0.0', '10.0.0.0/8,', '::/129', '1.2.3.4/x']) {
      await expect(runningService({ TRUST_PROXY: wrong }, service), wrong).rejects.toThrow(/TRUST_PROXY/);
    }
  });

  test('without TRUST_PROXY the header means nothing, and an undeclared proxy is mentioned once', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(line) });
    const plain = await runningService({}, service, { logger });
    for (let count = 0; count < 3; count++) {
      expect(await remaining(plain, '198.51.100.4')).toBeNaN();
    }
    await plain.stop();
    expect(lines.filter(line => line.includes('TRUST_PROXY'))).toHaveLength(1);
  });
});

describe('the Host header', () => {
  /** The status that a request with this Host gets; fetch always sends its own. */
  function sendToHost(
    at: RunningService,
    host: string,
    path = '/packets',
  ): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(`${at.url}${path}`, { headers: { host } }, response => {
        let text = '';
        response.on('data', piece => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode as number, text }));
      });
      sent.on('error', reject).end();
    });
  }

  test('names what a page of another site can be made to reach: only known names are answered on loopback', async () => {
    const local = await runningService(
      {
        PUBLIC_URL: 'https://field.example/base',
        TRACE_PUBLIC_URL: 'https://trace.example',
        ALLOWED_HOSTS: 'farm.local,Other.example',
      },
      service,
    );
    const good = ['localhost', 'LOCALHOST:8000', '127.0.0.1:1', '192.168.1.5', '[::1]:8000', '[::1]'];
    for (const host of [...good, 'field.example', 'trace.example:8080', 'farm.local', 'other.example.']) {
      expect((await sendToHost(local, host)).status, host).toBe(200);
    }
    for (const host of ['evil.example', 'localhost.evil.example', 'field.example.evil.example', 'x']) {
      for (const path of ['/packets', '/health', '/docs/', '/nothing']) {
        const { status, text } = await sendToHost(local, host, path);
        expect(status, `${host} ${path}`).toBe(421);
        expect(JSON.parse(text).error).toContain('ALLOWED_HOSTS');
      }
    }
    await local.stop();
  });

  test('others can reach the services if they listen on the network or the settings name a proxy', () => {
    const why = (environment: Record<string, string>) => reachableBecause(readSettings(environment));
    expect(why({})).toBeUndefined();
    expect(why({ HOST: '::1', PUBLIC_URL: 'http://localhost:8000' })).toBeUndefined();
    expect(why({ HOST: '0.0.0.0' })).toBe('HOST is 0.0.0.0');
    expect(why({ TRUST_PROXY: '10.0.0.1' })).toContain('TRUST_PROXY');
    expect(why({ PUBLIC_URL: 'https://field.example/base' })).toBe('PUBLIC_URL is https://field.example');
    expect(why({ ALLOWED_HOSTS: 'farm.local' })).toBe('ALLOWED_HOSTS is farm.local');
  });

  test("is the proxy's business behind one, and anyone's where the service listens to the network", async () => {
    expect((await sendToHost(service, 'evil.example')).status).toBe(200);
    const wide = await runningService({ HOST: '0.0.0.0' }, service);
    expect((await sendToHost(wide, 'evil.example')).status).toBe(200);
    await wide.stop();
  });
});

test('/metrics asks for METRICS_TOKEN where it is set', async () => {
  const token = 'a token for prometheus alone';
  const closed = await runningService({ METRICS_TOKEN: token.replaceAll(' ', '-') }, service);
  const readMetrics = async (authorization?: string) => {
    const answer = await closed.send('GET', '/metrics', undefined, authorization ? { authorization } : {});
    return [answer.status, answer.headers.get('www-authenticate')];
  };
  expect(await readMetrics()).toEqual([401, 'Bearer']);
  expect(await readMetrics('Bearer wrong')).toEqual([401, 'Bearer']);
  expect(await readMetrics(`Bearer ${token.replaceAll(' ', '-')}`)).toEqual([200, null]);
  await closed.stop();
});

test('RATE_LIMIT=off lifts requests a minute and contacts an hour', async () => {
  const free = await runningService({ RATE_LIMIT: 'off', TRUST_PROXY: 'true' }, service);
  const from = { 'x-forwarded-for': '192.0.2.9' };
  expect(
    (await free.send('GET', '/packets?limit=1', undefined, from)).headers.get('x-ratelimit-limit'),
  ).toBeNull();
  const packet = await storedPacket(free);
  const { user } = somebody();
  const statuses = new Set<number>();
  for (let n = 0; n < 62; n++) statuses.add((await share(free, packet, somebody().contact, user)).status);
  expect([...statuses]).toEqual([201]);
  await free.stop();
});

test('RATE_LIMIT=off leaves what guards passwords and mailed tokens', async () => {
  const trace = await runningTrace({ RATE_LIMIT: 'off', TRUST_PROXY: 'true' });
  const from = { 'x-forwarded-for': '192.0.2.10' };
  for (const [path, body] of [
    ['/api/user/confirm_email', { token: 'guessed' }],
    ['/api/company/invitation', { token: 'guessed', answer: 'ACCEPT' }],
  ] as const) {
    const statuses: number[] = [];
    for (let n = 0; n < 21; n++) statuses.push((await trace.send('POST', path, body, from)).status);
    expect(statuses, path).toEqual([...Array(20).fill(400), 429]);
  }
  const login = { username: 'nobody@example.org', password: 'guessed' };
  const answers: number[] = [];
  for (let n = 0; n < 11; n++)
    answers.push((await trace.send('POST', '/api/user/login', login, from)).status);
  expect(answers).toEqual([...Array(10).fill(401), 429]);
  await trace.stop();
});
