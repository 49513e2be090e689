import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';

let service: RunningService;
/** the texts of all packets by id, as GET /packets/{id} gives them */
const stored = new Map<string, string>();

async function observe(n: number, bytes: number, more: object = {}): Promise<void> {
  const { status, body, text } = await service.send('POST', '/intake/scouting', {
    observed_at: new Date(Date.UTC(2026, 2, 1, 0, 0, n)).toISOString(),
    capture_point: { lat: 1, lon: 2 },
    message: 'é'.repeat(bytes / 2),
    ...more,
  });
  expect(status, text).toBe(201);
  stored.set(body.packet_uuid, (await service.send('GET', `/packets/${body.packet_uuid}`)).text);
}

beforeAll(async () => {
  service = await runningService();
  // 20 MB in all; large ones at the beginning, at the end, one after another and alone, also by their Header.
  const sizes = [500_000, 100, 10, 500_000, 400_000, 300_000, 2000, 12, 20_000, 5];
  for (let n = 0; n < 70; n++) await observe(n, sizes[n % sizes.length] as number);
  await observe(70, 10, { tenant: { id: 't'.repeat(200_000) } });
  await observe(71, 500_000);
});
afterAll(() => service.stop());

const packetsIn = (text: string) => [...stored.values()].filter(packet => text.includes(packet)).length;

test('a page of large packets is whole, in its order, with its count and the place of the next', async () => {
  const ids = [...stored.keys()].reverse();
  for (const limit of [1, 2, 7, 50, 71, 72, 1000]) {
    const { status, text, body } = await service.send('GET', `/packets?limit=${limit}`);
    expect(status).toBe(200);
    const here = ids.slice(0, limit);
    expect(body.packets.map(({ Header }: { Header: { id: string } }) => Header.id)).toEqual(here);
    expect([body.count, body.next_cursor]).toEqual([here.length, limit < 72 ? here.at(-1) : undefined]);
    expect(packetsIn(text), `limit ${limit}`).toBe(here.length);
  }
  const { headers, text } = await service.send('GET', '/packets?limit=72');
  expect(text.length).toBeGreaterThan(5_000_000);
  expect(headers.get('content-length')).toBeNull();
});

test('paging goes through large and small packets alike', async () => {
  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const { body } = await service.send('GET', `/packets?limit=9&order=asc&cursor=${cursor}`);
    seen.push(...body.packets.map(({ Header }: { Header: { id: string } }) => Header.id));
    if (!body.next_cursor) break;
    cursor = body.next_cursor;
  }
  expect(seen).toEqual([...stored.keys()]);
});

test('as GeoJSON and with a GeoID large packets are there too', async () => {
  const [first] = [...stored.keys()];
  const geoid = JSON.parse(stored.get(first as string) as string).Header.geoid;
  const accept = { accept: 'application/geo+json' };
  const { body, text } = await service.send('GET', `/packets?limit=1000&geoid=${geoid}`, undefined, accept);
  expect(body.features.map(({ id }: { id: string }) => id)).toEqual([...stored.keys()].reverse());
  expect(body.features[0].geometry).toEqual({ type: 'Point', coordinates: [2, 1] });
  expect([body.count, packetsIn(text)]).toEqual([72, 72]);
});

test('sync gives large packets in the order of the log', async () => {
  const { text, body } = await eventually(
    () => service.send('GET', '/sync/packets?limit=1000'),
    answer => answer.body.count === 72,
  );
  expect(packetsIn(text)).toBe(72);
  const ids = body.packets.map(({ packet }: { packet: { Header: { id: string } } }) => packet.Header.id);
  expect(ids).toEqual([...stored.keys()]);
  expect(body.more).toBe(false);
});

test('a page of small packets is one text with its length', async () => {
  const { headers, body } = await service.send(
    'GET',
    '/packets?limit=1&from=2026-03-01T00:00:01Z&to=2026-03-01T00:00:02Z',
  );
  expect(body.count).toBe(1);
  expect(headers.get('content-length')).not.toBeNull();
});

test('clients that break off in the middle of a page leave no connection of the database behind', async () => {
  const port = Number(new URL(service.url).port);
  for (let n = 0; n < 20; n++) {
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /packets?limit=1000 HTTP/1.1\r\nhost: localhost\r\n\r\n');
    await new Promise(resolve => socket.once('data', resolve));
    socket.destroy();
  }
  expect((await service.send('GET', '/packets?limit=1000')).body.count).toBe(72);
});
