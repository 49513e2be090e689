import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { type Answer, type RunningService, runningService } from '../../../test/helpers/service.ts';
import { newUlid } from '../packet/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

function finalized() {
  const Header = { id: newUlid(), geoid: 'g', timestamp: '2026-03-01T08:15:00Z', type: 'note' };
  const Body = { attachments: [] };
  const hash = createHash('sha256')
    .update(`${canonicalize(Header)}${canonicalize(Body)}`)
    .digest('hex');
  return { Header, Body, Footer: { hash, enc: 'none', lang: 'und' } };
}

/** Keeps everybody else from a table until it is called again. */
async function lock(table: string, mode: string): Promise<() => Promise<void>> {
  const holder = await service.pool.connect();
  await holder.query('BEGIN');
  await holder.query(`LOCK TABLE ${table} IN ${mode} MODE`);
  return async () => {
    await holder.query('ROLLBACK');
    holder.release();
  };
}

const waiting = (table: string) =>
  eventually(async () => {
    const { rowCount } = await service.pool.query(
      'SELECT FROM pg_locks WHERE NOT granted AND relation = $1::regclass',
      [table],
    );
    return rowCount === 1;
  });

test('the ten seconds of a packet count from its request: what the look for its key took is part of them', async () => {
  const freeKeys = await lock('idempotency_keys', 'ACCESS EXCLUSIVE');
  const freePackets = await lock('packets', 'SHARE');
  const refused: string[] = [];
  const note = (name: string) => (answer: Answer) => {
    refused.push(`${name} ${answer.status}`);
  };
  const key = { 'idempotency-key': newUlid() };
  const first = service.send('POST', '/packets', finalized(), key).then(note('packet'));
  await waiting('idempotency_keys');
  // Two seconds between the requests, and two until the first one comes to the writer, behind the second.
  await service.pool.query('SELECT pg_sleep(2)');
  const observation = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };
  const second = service.send('POST', '/intake/scouting', observation).then(note('observation'));
  await waiting('packets');
  await service.pool.query('SELECT pg_sleep(2)');
  await freeKeys();
  await Promise.all([first, second]);
  expect(refused).toEqual(['packet 503', 'observation 503']);
  await freePackets();
});
