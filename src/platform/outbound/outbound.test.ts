import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import type { Problem } from '../http/problems.ts';
import { type OutboundLimits, type OutboundRequest, outbound } from './outbound.ts';

const servers: Server[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<URL> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/rates`);
}

/** A system that gives one answer after another, and repeats the last one. */
async function answering(...answers: [status: number, body: string, headers?: Record<string, string>][]) {
  let count = 0;
  const url = await serve((_request, response) => {
    const [status, body, headers] = answers[Math.min(count, answers.length - 1)] as (typeof answers)[number];
    count++;
    response.writeHead(status, headers).end(body);
  });
  return { url, count: () => count };
}

const client = (limits: Partial<OutboundLimits> = {}) => outbound({ name: 'the provider', ...limits });
const get = (url: URL): OutboundRequest => ({ method: 'GET', url });
const failure = (answer: Promise<unknown>): Promise<Problem> =>
  answer.then(
    value => expect.fail(`answered ${JSON.stringify(value)}`),
    error => error,
  );

describe('a request to a system outside', () => {
  test('carries its method, headers and body, and brings the status and the JSON back', async () => {
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method, headers } = request;
      response
        .writeHead(418)
        .end(JSON.stringify({ method, headers, body: Buffer.concat(chunks).toString() }));
    });
    const answer = await client()({ method: 'POST', url, headers: { 'x-key': 'k' }, body: { a: 'é' } });
    expect(answer).toMatchObject({
      status: 418,
      body: {
        method: 'POST',
        headers: { 'x-key': 'k', 'content-type': 'application/json' },
        body: '{"a":"é"}',
      },
    });
  });

  test('is repeated while the system stumbles, and no more often than allowed', async () => {
    const recovering = await answering([500, '{}'], [429, '{}'], [200, '{"ok":true}']);
    expect(await client()(get(recovering.url))).toEqual({ status: 200, body: { ok: true } });

    const broken = await answering([502, 'Bad Gateway']);
    const problem = await failure(client({ retries: 3 })(get(broken.url)));
    expect(problem).toMatchObject({
      code: 'unavailable',
      message: 'the provider returned 502',
      retryAfter: 1,
    });
    expect(broken.count()).toBe(4);
  });

  test('is not repeated when the system was understood or asks for a long pause', async () => {
    const refusing = await answering([404, '{"message":"no"}']);
    expect(await client()(get(refusing.url))).toEqual({ status: 404, body: { message: 'no' } });
    expect(refusing.count()).toBe(1);

    const busy = await answering([503, '{}', { 'retry-after': '90' }]);
    expect((await failure(client()(get(busy.url)))).retryAfter).toBe(90);
    expect(busy.count()).toBe(1);
  });

  test('ends when no answer, or no end of the answer, comes in time', async () => {
    const silent = await serve(() => {});
    const endless = await serve((_request, response) => {
      response.write('{');
    });
    for (const url of [silent, endless]) {
      const problem = await failure(client({ timeoutMs: 50, retries: 1 })(get(url)));
      expect(problem.message).toBe('the provider did not respond in time');
    }
  });
});

describe('a request to a system outside that misbehaves', () => {
  test('takes no more of an answer than it may, also of one that was compressed or has no end', async () => {
    const { gzipSync } = await import('node:zlib');
    const bomb = gzipSync(Buffer.alloc(5_000_000, ' '));
    const compressed = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
    });
    const endless = await serve((_request, response) => {
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', more);
      more();
    });
    for (const url of [compressed, endless]) {
      const problem = await failure(client({ maxBytes: 20_000, retries: 0 })(get(url)));
      expect(problem.message).toBe('the provider sent more than 20000 bytes');
    }
  });

  test('follows no redirect, which could take a token elsewhere', async () => {
    const other = await answering([200, '{}']);
    const moved = await answering([307, '', { location: other.url.href }]);
    const problem = await failure(client({ retries: 0 })(get(moved.url)));
    expect(problem.message).toBe('the provider returned 307');
    expect(other.count()).toBe(0);
  });

  test('takes only JSON for an answer', async () => {
    const page = await answering([200, '<html></html>']);
    const problem = await failure(client({ retries: 0 })(get(page.url)));
    expect(problem.message).toBe('the provider returned 200 with a body that is not JSON');
  });

  test('to nobody says so', async () => {
    const url = await serve(() => {});
    await new Promise(resolve => servers.pop()?.close(resolve));
    const problem = await failure(client({ retries: 0 })(get(url)));
    expect(problem.message).toBe('the provider could not be reached (ECONNREFUSED)');
  });
});

describe('a system that fails several requests in a row', () => {
  test('is left alone for a while, then tried by one request alone', async () => {
    // The breaker's clock does not move until the test moves it.
    vi.useFakeTimers({ toFake: ['performance'] });
    let broken = true;
    let count = 0;
    let hold: Promise<void> = Promise.resolve();
    const url = await serve(async (_request, response) => {
      count++;
      await hold;
      response.writeHead(broken ? 500 : 200).end('{}');
    });
    const send = client({ retries: 0, failures: 3, restMs: 30_000 });
    for (let k = 0; k < 6; k++) await failure(send(get(url)));
    expect(count).toBe(3);
    const problem = await failure(send(get(url)));
    expect(problem).toMatchObject({ code: 'unavailable', message: 'the provider is down', retryAfter: 30 });

    broken = false;
    const release = Promise.withResolvers<void>();
    hold = release.promise;
    vi.advanceTimersByTime(30_001);
    const trial = send(get(url));
    expect((await failure(send(get(url)))).message).toBe('the provider is down');
    release.resolve();
    expect((await trial).status).toBe(200);
    expect(count).toBe(4);
    expect((await send(get(url))).status).toBe(200);
  });

  test('is not taken for down by refusals, nor by failures with successes between them', async () => {
    const refusing = await answering([400, '{}']);
    const send = client({ retries: 0, failures: 2 });
    for (let k = 0; k < 5; k++) expect((await send(get(refusing.url))).status).toBe(400);

    const flickering = await answering(
      [500, '{}'],
      [200, '{}'],
      [500, '{}'],
      [200, '{}'],
      [500, '{}'],
      [200, '{}'],
    );
    const other = client({ retries: 0, failures: 2 });
    for (let k = 0; k < 3; k++) {
      await failure(other(get(flickering.url)));
      expect((await other(get(flickering.url))).status).toBe(200);
    }
  });
});

describe('many requests at once', () => {
  test('wait in line for a few places, and are turned away when the line is full', async () => {
    const open: ServerResponse[] = [];
    let most = 0;
    const url = await serve((_request, response) => {
      open.push(response);
      most = Math.max(most, open.length);
    });
    const send = client({ concurrency: 3, queue: 10, timeoutMs: 30_000 });
    const sent = Promise.allSettled(Array.from({ length: 20 }, () => send(get(url))));
    for (let left = 13; left > 0; left--) {
      await eventually(() => open.length === Math.min(3, left));
      open.shift()?.end('{}');
    }
    const outcomes = await sent;
    expect(most).toBe(3);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(13);
    const [refused] = outcomes.filter(outcome => outcome.status === 'rejected');
    expect(refused?.reason).toMatchObject({
      code: 'unavailable',
      message: 'too many requests are waiting for the provider',
      retryAfter: 1,
    });
    const next = send(get(url));
    (await eventually(() => open.shift()))?.end('{}');
    expect((await next).status).toBe(200);
  });
});
