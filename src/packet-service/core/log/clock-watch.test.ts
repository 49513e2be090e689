import pg from 'pg';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';
import { clockWatch } from './clock-watch.ts';
import { appendQueued, NO_HORIZON, queueEvents } from './store.ts';

const DAY_MS = 24 * 3600 * 1000;

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

/** Appends to the log as a process does whose clock is ahead. */
async function appendAhead(ms: number): Promise<void> {
  const client = new pg.Client({ ...service.connection, options: '-c search_path=packet_service' });
  await client.connect();
  // Until this connection ends no other process appends.
  await client.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.append]);
  await queueEvents(service.pool, [{ kind: 'share.created', userId: 'amina', details: {} }]);
  const { appended } = await appendQueued(client, NO_HORIZON, new Date(Date.now() + ms));
  expect(appended).toBe(true);
  await client.end();
}

async function clock() {
  const { status, body } = await service.send('GET', '/health/ready');
  expect([status, body.status]).toEqual([200, 'OK']);
  return body.details.find(({ name }: { name: string }) => name === 'clock');
}

async function behindSeconds(): Promise<number> {
  const { text } = await service.send('GET', '/metrics');
  return Number(/^clock_behind_newest_row_seconds\S* (\S+)$/m.exec(text)?.[1]);
}

test('health and metrics report a clock that ran ahead until time catches up, whatever is written in the meantime', async () => {
  expect(await clock()).toEqual({ name: 'clock', status: 'OK' });
  expect(await behindSeconds()).toBe(0);
  await appendAhead(DAY_MS);
  const detail = await eventually(clock, ({ status }) => status !== 'OK');
  expect(detail).toEqual({
    name: 'clock',
    status: 'BEHIND',
    message: expect.stringMatching(/8\d{4} seconds behind/),
  });
  expect(await behindSeconds()).toBeGreaterThan(80_000);

  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const { packet_uuid } = (await service.send('POST', '/intake/scouting', observation)).body;
  await eventually(async () => {
    const { packets } = (await service.send('GET', '/sync/packets')).body;
    return packets.some(
      ({ packet }: { packet: { Header: { id: string } } }) => packet.Header.id === packet_uuid,
    );
  });
  expect((await clock()).status).toBe('BEHIND');
  const other = await runningService({}, service);
  await eventually(
    async () => (await other.send('GET', '/health/ready')).body.details,
    details =>
      details.some(
        ({ name, status }: { name: string; status: string }) => name === 'clock' && status === 'BEHIND',
      ),
  );
  await other.stop();
});

test('the log says once that the clock is behind, and once that it no longer is', () => {
  const lines: { level: number; msg: string }[] = [];
  const logger = pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line)) });
  let now = 1_000_000;
  const watch = clockWatch(logger, new Registry(), () => now);
  for (const latest of [null, 1_000_000, 1_010_000]) watch.seen(latest);
  expect(lines).toEqual([]);
  expect(watch.detail().status).toBe('OK');
  watch.seen(1_010_001);
  watch.seen(1_010_001);
  expect(lines.map(({ level }) => level)).toEqual([40]);
  expect(lines[0]?.msg).toContain('10 seconds behind the newest row');
  now = 1_000_001;
  watch.seen(1_010_001);
  expect(lines.map(({ level }) => level)).toEqual([40, 30]);
  expect(watch.detail().status).toBe('OK');
});
