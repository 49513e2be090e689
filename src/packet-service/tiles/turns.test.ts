import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../test/helpers/service.ts';
import { sumOf, tileAt } from '../../../test/helpers/tiles.ts';
import { type OtherClient, otherClient } from '../../../test/helpers/writes.ts';

let service: RunningService;
let others: OtherClient[];
beforeAll(async () => {
  // One turn for tiles of counts, and one for the others.
  service = await runningService({ DATABASE_POOL: '2' });
  others = [await otherClient(service), await otherClient(service)];
  const body = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 1 }, crop: 'maize' };
  expect((await service.send('POST', '/intake/scouting', body)).status).toBe(201);
  await eventually(async () => sumOf(await tileAt(service, 'observations', [0, 0, 0])) === 1);
});
afterAll(async () => {
  for (const other of others) await other.end();
  await service.stop();
});

/** Nobody reads a table until the returned function is called. */
async function locked(
  other: OtherClient | undefined,
  table: string,
): Promise<() => Promise<unknown> | undefined> {
  await other?.query('BEGIN');
  await other?.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return () => other?.query('ROLLBACK');
}

/** Asks for a tile on a connection of its own; returns how to go away without the answer. */
async function ask(path: string): Promise<() => Promise<void>> {
  const before = await service.connections();
  const { hostname, port } = new URL(service.url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await eventually(async () => (await service.connections()) > before);
  return async () => {
    const open = await service.connections();
    socket.destroy();
    await eventually(async () => (await service.connections()) < open);
  };
}

const polygons = () => tileAt(service, 'fields', [15, 0, 0]);

test('a tile whose client has gone before its turn reads nothing, and tiles of counts do not wait for others', async () => {
  const unlockFields = await locked(others[0], 'fields');
  const unlockPackets = await locked(others[1], 'packets');
  const first = polygons();
  await others[0]?.blocks();
  const leave = await ask('/tiles/observations/15/0/0.mvt');
  const last = polygons();
  expect(sumOf(await tileAt(service, 'observations', [0, 0, 0]))).toBe(1);
  await leave();
  await unlockFields();
  expect(await Promise.all([first, last])).toEqual([[], []]);
  await unlockPackets();
});

test('a tile with a filter whose client goes away before packets are read does not read them', async () => {
  const unlockState = await locked(others[0], 'tile_state');
  const unlockPackets = await locked(others[1], 'packets');
  const leave = await ask('/tiles/observations/3/0/0.mvt?geoid=unknown');
  await others[0]?.blocks();
  await leave();
  await unlockState();
  expect(await polygons()).toEqual([]);
  await unlockPackets();
});

test('a tile within one of which all that a filter finds was read is made from that', async () => {
  const query = '?field=crop&text=maize';
  expect(sumOf(await tileAt(service, 'observations', [1, 1, 0], query))).toBe(1);
  const unlockPackets = await locked(others[1], 'packets');
  for (const address of [
    [1, 1, 0],
    [4, 8, 7],
    [13, 4118, 4073],
  ] as const) {
    expect(sumOf(await tileAt(service, 'observations', address, query)), `${address}`).toBe(1);
  }
  expect(await tileAt(service, 'observations', [4, 9, 7], query)).toEqual([]);
  await unlockPackets();
});
