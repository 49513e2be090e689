import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { eventually } from './helpers/eventually.ts';
import { type RunningService, runningService } from './helpers/service.ts';

const MIB = 1024 * 1024;

let service: RunningService;
let proxied: RunningService;
const sockets: Socket[] = [];
beforeAll(async () => {
  service = await runningService();
  proxied = await runningService({ TRUST_PROXY: 'true' }, service);
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await proxied.stop();
  await service.stop();
});

/** A batch of which so much is sent and the rest is not; `answer` is what came back until now. */
function halfABatch(url: string, bytes: number, headers: string[] = []): { answer: () => string } {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  sockets.push(socket);
  let text = '';
  socket.on('data', chunk => {
    text += chunk;
  });
  socket.on('error', () => {});
  const length = bytes + 1000;
  const lines = ['POST /intake/batch HTTP/1.1', 'host: localhost', 'content-type: application/json'];
  socket.write([...lines, `content-length: ${length}`, ...headers, '', ''].join('\r\n'));
  socket.write(`["${'x'.repeat(bytes - 2)}`);
  return { answer: () => text };
}

const observation = (message: string) => ({
  observed_at: '2026-03-01T08:15:00Z',
  capture_point: { lat: 1, lon: 2 },
  message,
});

test('concurrent large bodies are limited; refused clients can retry, and small requests are accepted', async () => {
  const batches = Array.from({ length: 5 }, () => halfABatch(service.url, 14 * MIB));
  await eventually(() => batches.some(({ answer }) => answer() !== ''));
  const refused = batches.filter(({ answer }) => answer() !== '');
  expect(refused).toHaveLength(1);
  expect(refused[0]?.answer()).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: 2\r\n/i);
  expect((await service.send('POST', '/intake/scouting', observation('small'))).status).toBe(201);

  // What broke off is held no longer.
  for (const socket of sockets) socket.destroy();
  const items = Array.from({ length: 35 }, (_, n) => ({
    intake: 'scouting',
    body: observation(String(n).repeat(200_000)),
  }));
  await eventually(async () => (await service.send('POST', '/intake/batch', items)).status === 200);
});

test('a body that is announced but not sent blocks nobody', async () => {
  for (let n = 0; n < 20; n++) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    sockets.push(socket.on('error', () => {}));
    socket.write(
      `POST /intake/batch HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${15 * MIB}\r\n\r\n[`,
    );
  }
  const items = Array.from({ length: 20 }, () => ({
    intake: 'scouting',
    body: observation('x'.repeat(400_000)),
  }));
  await eventually(async () => (await service.send('POST', '/intake/batch', items)).status === 200);
});

test('one client address gets at most half of the capacity, and others continue', async () => {
  const forwarded = ['x-forwarded-for: 203.0.113.7'];
  const batches = Array.from({ length: 3 }, () => halfABatch(proxied.url, 14 * MIB, forwarded));
  await eventually(() => batches.some(({ answer }) => answer() !== ''));
  expect(batches.filter(({ answer }) => answer().startsWith('HTTP/1.1 503 '))).toHaveLength(1);
  const items = [{ intake: 'scouting', body: observation('x'.repeat(400_000)) }];
  const otherAddress = { 'x-forwarded-for': '203.0.113.8' };
  expect((await proxied.send('POST', '/intake/batch', items, otherAddress)).status).toBe(200);
});

test('a body counts with its decompressed size', async () => {
  const { gzipSync } = await import('node:zlib');
  const items = JSON.stringify(
    Array(35).fill({ intake: 'scouting', body: observation('x'.repeat(400_000)) }),
  );
  const packed = gzipSync(items);
  const headers = { 'content-encoding': 'gzip' };
  expect(packed.length).toBeLessThan(64 * 1024);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => service.send('POST', '/intake/batch', packed, headers)),
  );
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
  expect(statuses.filter(status => status === 200).length).toBeGreaterThanOrEqual(3);
});
