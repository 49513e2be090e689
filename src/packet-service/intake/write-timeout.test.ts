import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { type Answer, type RunningService, runningService } from '../../../test/helpers/service.ts';
import { newUlid } from '../core/packet-format/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  // The writer's clock is an interval, which ticks only when the test lets it.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  service = await runningService();
});
afterAll(async () => {
  await service.stop();
  vi.useRealTimers();
});

function finalized() {
  const Header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'note' };
  const Body = { attachments: [] };
  const hash = createHash('sha256')
    .update(`${canonicalize(Header)}${canonicalize(Body)}`)
    .digest('hex');
  return { Header, Body, Footer: { hash, enc: 'none', lang: 'und' } };
}

/** Runs a statement that locks a table, and undoes it when it is called again. */
async function lock(statement: string): Promise<() => Promise<void>> {
  const holder = await service.pool.connect();
  await holder.query('BEGIN');
  await holder.query(statement);
  return async () => {
    await holder.query('ROLLBACK');
    holder.release();
  };
}

/** Waits until a number of statements like this one wait for a lock. */
const waiting = (statement: string, count = 1) =>
  eventually(async () => {
    const { rowCount } = await service.pool.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE $1",
      [statement],
    );
    return rowCount === count;
  });

const LOOK_FOR_KEY = '%SELECT%idempotency_keys%';
const INSERT_PACKETS = 'INSERT INTO packets (id,%';

test("a packet's ten seconds start with its request and include the look-up of its key", async () => {
  const freeKeys = await lock('LOCK TABLE idempotency_keys IN ACCESS EXCLUSIVE MODE');
  const freePackets = await lock('CREATE INDEX ON packets (ts)');
  const refused: string[] = [];
  const note = (name: string) => (answer: Answer) => {
    refused.push(`${name} ${answer.status}`);
  };
  const key = { 'idempotency-key': newUlid() };
  const first = service.send('POST', '/packets', finalized(), key).then(note('packet'));
  await waiting(LOOK_FOR_KEY);
  // Two seconds between the requests, and two until the first one comes to the writer, behind the second.
  vi.advanceTimersByTime(2000);
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const second = service.send('POST', '/intake/scouting', observation).then(note('observation'));
  await waiting(INSERT_PACKETS);
  vi.advanceTimersByTime(2000);
  await freeKeys();
  await waiting(LOOK_FOR_KEY, 0);
  // Answered after the look for the key, so the packet is with the writer.
  await service.send('GET', '/chat/threads?user_id=amina');
  vi.advanceTimersByTime(5500);
  await service.send('GET', '/chat/threads?user_id=amina');
  expect(refused).toEqual([]);
  vi.advanceTimersByTime(500);
  await first;
  expect(refused).toEqual(['packet 503']);
  vi.advanceTimersByTime(2000);
  await second;
  expect(refused).toEqual(['packet 503', 'observation 503']);
  await freePackets();
});
