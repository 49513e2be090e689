import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type OpenFeed, openFeed } from '../../../../test/helpers/feed.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';

let service: RunningService;
const feeds: OpenFeed[] = [];
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  for (const feed of feeds) feed.close();
  await service.stop();
});

const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

interface Page {
  packets: { position: number; packet: { Header: { id: string } } }[];
  since: string;
}

const sync = (since?: string, of = service) =>
  of.send('GET', `/sync/packets?limit=1000${since === undefined ? '' : `&since=${since}`}`);

async function syncAll(): Promise<Page> {
  const { status, body } = await sync();
  expect(status).toBe(200);
  return body;
}

/** Stores packets, and waits until they have their positions. */
async function store(count: number): Promise<string[]> {
  const items = Array.from({ length: count }, () => ({ intake: 'scouting', body: observation }));
  const { body } = await service.send('POST', '/intake/batch', items);
  const ids: string[] = body.results.map(({ packet_uuid }: { packet_uuid: string }) => packet_uuid);
  await eventually(async () => {
    const got = new Set((await syncAll()).packets.map(({ packet }) => packet.Header.id));
    return ids.every(id => got.has(id));
  });
  return ids;
}

/** Makes a database look restored from a backup whose log ends at a position. */
async function restoreTo(pool: pg.Pool, position: number): Promise<void> {
  await pool.query('GRANT DELETE ON packet_log TO CURRENT_USER');
  await pool.query('DELETE FROM packet_log WHERE position > $1', [position]);
  await pool.query('REVOKE DELETE ON packet_log FROM CURRENT_USER');
}

async function follow(lastEventId?: string): Promise<OpenFeed> {
  const feed = await openFeed(service.url, 'amina', lastEventId);
  feeds.push(feed);
  return feed;
}

const feedStatus = async (lastEventId: string) => {
  const response = await fetch(`${service.url}/events?user_id=amina&last_event_id=${lastEventId}`);
  await response.body?.cancel();
  return response.status;
};

test('a client must start over after a restored backup, even if the log has grown past its position again', async () => {
  await store(20);
  const { since } = await syncAll();
  expect(since).toMatch(/^20\.[0-9a-f]{8}$/);
  expect((await sync(since)).body).toMatchObject({ packets: [], since });

  await restoreTo(service.pool, 10);
  for (const _ of ['beyond the end', 'at an entry of another log']) {
    const refused = await sync(since);
    expect([refused.status, refused.body.error]).toEqual([
      409,
      expect.stringMatching(/^since .* start over/),
    ]);
    expect(await feedStatus(since)).toBe(409);
    await store(15);
  }
  const again = await syncAll();
  expect(again.packets.map(({ position }) => position)).toEqual(again.packets.map((_, n) => n + 1));
  expect(again.packets).toHaveLength(40);
  expect((await sync(again.since)).status).toBe(200);
});

test('positions from before the backup stay valid, and positions that never existed do not', async () => {
  await store(5);
  const before = (await syncAll()).since;
  await store(5);
  const position = Number(before.split('.')[0]);
  await restoreTo(service.pool, position);
  const later = await store(3);
  const { body } = await sync(before);
  expect(body.packets.map(({ packet }: Page['packets'][0]) => packet.Header.id)).toEqual(later);
  for (const since of ['0.00000001', `${position}.00000000`, `${position}`, '999999', '999999.0f3a9b21']) {
    expect((await sync(since)).status, since).toBe(409);
    expect(await feedStatus(since), since).toBe(409);
  }
  expect((await sync('0')).status).toBe(200);
  expect((await sync('')).status).toBe(200);
});

test('entries that an older version appended have no tag: their bare positions count, and no others', async () => {
  const { rows } = await service.pool.query(
    `INSERT INTO packet_log (position, packet_id, kind)
     SELECT (SELECT max(position) FROM packet_log) + number, id, 'packet'
     FROM (SELECT id, row_number() OVER () AS number FROM packets LIMIT 3) AS three RETURNING position`,
  );
  const positions = rows.map(({ position }) => Number(position)).sort((a, b) => a - b);
  const { since } = await syncAll();
  expect(since).toBe(`${positions[2]}`);
  expect((await sync(`${positions[0]}`)).body.packets).toHaveLength(2);
  expect((await sync(`${positions[0]}.0f3a9b21`)).status).toBe(409);
  expect(await feedStatus(`${positions[0]}.0f3a9b21`)).toBe(409);
  expect(await feedStatus(`${positions[0]}`)).toBe(200);
  await store(1);
  expect((await syncAll()).since).toMatch(/^\d+\.[0-9a-f]{8}$/);
});

test('all entries of a round have one tag, and rounds have different ones', async () => {
  const before = (await syncAll()).packets.length;
  for (let n = 0; n < 8; n++) await store(3);
  const { rows } = await service.pool.query(
    'SELECT DISTINCT tag FROM packet_log WHERE position > $1 AND tag IS NOT NULL',
    [before],
  );
  expect(rows.length).toBeGreaterThanOrEqual(8);
  expect(rows.length).toBeLessThanOrEqual(24);
});

test('open feeds end and waiting clients are notified when the database is replaced under a running process', async () => {
  await store(5);
  const kept = (await syncAll()).since;
  await store(5);
  const { since } = await syncAll();
  const feed = await follow();
  const waiting = service.send('GET', `/sync/packets?since=${since}&wait=30`);
  await restoreTo(service.pool, Number(kept.split('.')[0]));
  expect(await feed.ended).toBe(true);
  expect((await waiting).status).toBe(409);
  expect(await feedStatus(feed.lastId() as string)).toBe(409);
  const next = await follow();
  expect(next.lastId()).toBe(kept);
});
