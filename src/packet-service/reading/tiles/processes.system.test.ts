import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type RunningProcess, startProcess } from '../../../../test/helpers/process.ts';
import { sumOf, tileAt } from '../../../../test/helpers/tiles.ts';

const KILLS = 3;
const BATCH = 200;

let database: TestDatabase;
let databaseUrl: string;
beforeAll(async () => {
  database = await testDatabase();
  const { host, port, user, password, database: name } = database.connection;
  databaseUrl = `postgres://${user}:${password}@/${name}?host=${encodeURIComponent(host)}&port=${port}`;
});
afterAll(() => database.drop());

const start = () =>
  startProcess({ DATABASE_URL: databaseUrl, DATABASE_POOL: '4', LOG_LEVEL: 'error', SERVICES: 'packet' });

/** A batch of observations around the world; those of a process that is killed meanwhile may be stored or not. */
async function observe({ send }: RunningProcess, turn: number): Promise<void> {
  const items = Array.from({ length: BATCH }, (_, n) => ({
    intake: 'scouting',
    body: {
      observed_at: '2026-03-01T08:15:00Z',
      capture_point: { lat: -60 + ((n * 7 + turn) % 120), lon: -170 + ((n * 13 + turn * 5) % 340) },
    },
  }));
  await send('POST', '/intake/batch', items).catch(error => {
    if (!(error instanceof TypeError)) throw error;
  });
}

test('two processes, one after another killed in the middle, count every observation once', async () => {
  const running = [await start(), await start()];
  let over = false;
  const writing = running.map(async (_, slot) => {
    for (let turn = slot; !over; turn += 2) {
      const process = running[slot] ?? running[0];
      if (process) await observe(process, turn);
    }
  });
  const counted = async () => {
    const { rows } = await database.pool.query('SELECT position FROM packet_service.tile_state');
    return Number(rows[0]?.position ?? 0);
  };
  for (let kill = 0; kill < KILLS; kill++) {
    const before = await counted();
    await eventually(async () => (await counted()) > before);
    const [killed] = running.splice(0, 1) as [RunningProcess];
    killed.child.kill('SIGKILL');
    await killed.ended;
    running.push(await start());
  }
  over = true;
  await Promise.all(writing);
  const { rows } = await database.pool.query(
    'SELECT count(*) AS stored FROM packet_service.packets WHERE cell IS NOT NULL',
  );
  const stored = Number(rows[0].stored);
  expect(stored).toBeGreaterThan(BATCH);
  const last = running.at(-1) as RunningProcess;
  const total = await eventually(
    async () => sumOf(await tileAt(last, 'observations', [0, 0, 0])),
    sum => sum >= stored,
  );
  expect(total).toBe(stored);
  for (let z = 1; z <= 3; z++) {
    let sum = 0;
    for (let x = 0; x < 2 ** z; x++) {
      for (let y = 0; y < 2 ** z; y++) sum += sumOf(await tileAt(last, 'observations', [z, x, y]));
    }
    expect(sum, `zoom ${z}`).toBe(stored);
  }
  for (const { child } of running) child.kill('SIGTERM');
  for (const child of running) expect(await child.ended, child.output()).toBe(0);
});
