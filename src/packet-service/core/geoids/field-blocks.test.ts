import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestDatabase, testDatabase } from '../../../../test/helpers/database.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { cellIndex, leafCell } from '../../../geometry/cells.ts';
import type { Database } from '../../../platform/database/database.ts';
import { type Candidates, type FieldBlocks, fieldBlocks, keysOf } from './field-blocks.ts';
import { fieldFinder } from './registry.ts';
import { fieldsOfCells } from './store.ts';
import { COVER_LEVELS, cellKey } from './survey.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await database.pool.query('DELETE FROM field_cells');
});

/** Lists a field in the cell of a level around a point. */
async function list(lat: number, lon: number, level: number, geoid: string, count = 1): Promise<void> {
  const key = cellKey(cellIndex(leafCell(lat, lon), level), level);
  await database.pool.query(
    `INSERT INTO field_cells (cell, geoid) SELECT $1, $2 || n FROM generate_series(1, $3) AS n ON CONFLICT DO NOTHING`,
    [key, geoid, count],
  );
}

/** The database, which keeps the names of the statements. */
function counted(): { database: Database; count: () => number; names: string[] } {
  const names: string[] = [];
  return {
    database: {
      query: statement => {
        names.push(statement.name ?? '');
        return database.pool.query(statement);
      },
    },
    count: () => names.length,
    names,
  };
}

const near = (blocks: FieldBlocks, lat: number, lon: number) => blocks.find(leafCell(lat, lon));
const geoidsNear = async (blocks: FieldBlocks, lat: number, lon: number) => {
  const found = (await near(blocks, lat, lon)) as Candidates;
  return found.geoids.toSorted();
};

test('memory and table give the same fields, for points and cells anywhere', async () => {
  const degrees = fc.record({
    lat: fc.double({ min: -90, max: 90, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  const around = fc.record({
    lat: fc.double({ min: -1.01, max: -1, noNaN: true }),
    lon: fc.double({ min: 30, max: 30.01, noNaN: true }),
  });
  const point = fc.oneof(around, degrees);
  const listed = fc.record({ at: point, level: fc.constantFrom(...COVER_LEVELS) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(listed, { maxLength: 30 }),
      fc.array(point, { maxLength: 10 }),
      async (cells, others) => {
        await database.pool.query('DELETE FROM field_cells');
        for (const [n, { at, level }] of cells.entries()) await list(at.lat, at.lon, level, `${n} `);
        const blocks = fieldBlocks(database.pool);
        for (const { lat, lon } of [...cells.map(({ at }) => at), ...others]) {
          const expected = await fieldsOfCells(database.pool, keysOf(leafCell(lat, lon)));
          expect(await geoidsNear(blocks, lat, lon)).toEqual(expected.map(({ geoid }) => geoid).toSorted());
        }
      },
    ),
    { numRuns: runs(30) },
  );
});

test('a region with few fields is read once; with many, finer blocks or none are read', async () => {
  const { database: countedDatabase, count } = counted();
  await list(-1.5, 30.5, 18, 'one ');
  const blocks = fieldBlocks(countedDatabase);
  expect(await geoidsNear(blocks, -1.5, 30.5)).toEqual(['one 1']);
  expect(near(blocks, -1.5, 30.5)).not.toBeInstanceOf(Promise);
  expect(near(blocks, -1.505, 30.505)).toEqual({ state: expect.any(String), geoids: [] });
  expect(count()).toBe(1);

  // The same point again, among fields that do not fit into a coarse block, and nor into a fine one.
  await list(-1.5, 30.51, 18, 'many ', 2000);
  const crowded = fieldBlocks(countedDatabase);
  expect(await geoidsNear(crowded, -1.5, 30.5)).toEqual(['one 1']);
  expect(count()).toBe(4);
  expect(await geoidsNear(crowded, -1.5, 30.51)).toHaveLength(2000);
  await list(-1.5, 30.51, 12, 'more ');
  expect(await near(fieldBlocks(countedDatabase), -1.5, 30.51)).toBeUndefined();
});

test('nothing is cached for a second after a change', async () => {
  const { database: countedDatabase, count } = counted();
  let now = 10_000;
  const blocks = fieldBlocks(countedDatabase, () => now);
  const { state } = (await near(blocks, 1, 2)) as Candidates;
  await list(1, 2, 18, 'new ');
  expect(await geoidsNear(blocks, 1, 2)).toEqual([]);

  blocks.outdated('of an earlier look');
  expect(await geoidsNear(blocks, 1, 2)).toEqual([]);
  blocks.outdated(state);
  now += 999;
  expect([near(blocks, 1, 2), count()]).toEqual([undefined, 1]);
  now += 1;
  expect(await geoidsNear(blocks, 1, 2)).toEqual(['new 1']);
  expect(((await near(blocks, 1, 2)) as Candidates).state).not.toBe(state);

  // Another block shows it, too: both are of one state.
  await list(40, 50, 18, 'other ');
  expect(await near(blocks, 40, 50)).toBeUndefined();
  expect(near(blocks, 1, 2)).toBeUndefined();
  now += 1000;
  expect(await geoidsNear(blocks, 40, 50)).toEqual(['other 1']);
});

test('points that arrive while a block is read wait for the same statement', async () => {
  const { database: countedDatabase, count } = counted();
  const blocks = fieldBlocks(countedDatabase);
  const all = await Promise.all([near(blocks, 3, 4), near(blocks, 3.001, 4), near(blocks, 3, 4.001)]);
  expect([all.map(found => found?.geoids), count()]).toEqual([[[], [], []], 1]);
});

test('points in many regions at once are left to the look-up that combines them', async () => {
  const { database: countedDatabase, count } = counted();
  const blocks = fieldBlocks(countedDatabase);
  const all = await Promise.all(Array.from({ length: 50 }, (_, n) => near(blocks, -60 + 2 * n, 5)));
  expect([all.filter(found => found).length, count()]).toEqual([4, 4]);
});

const WIDTH = 0.0005;
const square = (west: number, south: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, south],
      [west + WIDTH, south],
      [west + WIDTH, south + WIDTH],
      [west, south + WIDTH],
      [west, south],
    ],
  ],
});

test('each observation gets the fields registered before it, while other processes register more', async () => {
  const service = await runningService();
  const others = [await runningService({}, service), await runningService({}, service)];
  const [lat, lon] = [10.2, 20.2];
  const observe = async (n: number) => {
    const capture_point = { lat: lat + WIDTH / 2, lon: lon + n * 2 * WIDTH + WIDTH / 2 };
    const body = { observed_at: '2026-03-01T08:15:00Z', capture_point, message: `in field ${n}` };
    const { status, body: answer } = await service.send('POST', '/intake/scouting', body);
    expect(status).toBe(201);
    return (await service.send('GET', `/packets/${answer.packet_uuid}`)).body.Header.geoid;
  };
  const FIELDS = 12;
  const without = await Promise.all(Array.from({ length: FIELDS }, (_, n) => observe(n)));
  let over = false;
  const registrations = Array.from({ length: 4 }, async (_, n) => {
    while (!over) await observe(FIELDS + n);
  });
  for (let n = 0; n < FIELDS; n++) {
    const other = others[n % 2] as RunningService;
    const { body } = await other.send('PUT', '/fields', {
      type: 'Feature',
      properties: {},
      geometry: square(lon + n * 2 * WIDTH, lat),
    });
    const { geoid } = body.fields[0];
    expect(without).not.toContain(geoid);
    expect(await Promise.all([observe(n), observe(n)]), `field ${n}`).toEqual([geoid, geoid]);
  }
  over = true;
  await Promise.all(registrations);
  for (const other of [...others, service]) await other.stop();
});

test('an observation with a key is stored once although its place was looked up again', async () => {
  const service = await runningService();
  const other = await runningService({}, service);
  const capture_point = { lat: 30.00025, lon: 40.00025 };
  const body = { observed_at: '2026-03-01T08:15:00Z', capture_point };
  await service.send('POST', '/intake/scouting', body);
  const { body: put } = await other.send('PUT', '/fields', {
    type: 'Feature',
    properties: {},
    geometry: square(40, 30),
  });
  const send = () => service.send('POST', '/intake/scouting', body, { 'idempotency-key': 'once' });
  const first = await send();
  const again = await send();
  expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
  const { rows } = await service.pool.query('SELECT geoid FROM packets ORDER BY id');
  expect(rows.map(({ geoid }) => geoid === put.fields[0].geoid)).toEqual([false, true]);
  await other.stop();
  await service.stop();
});

test('the state of the fields changes with each change of their cells', async () => {
  const state = async () => (await database.pool.query('SELECT state FROM field_state')).rows[0].state;
  const seen = new Set([await state()]);
  await list(1, 2, 18, 'a ');
  seen.add(await state());
  await database.pool.query('DELETE FROM field_cells');
  seen.add(await state());
  expect(seen.size).toBe(3);
});

test('a process that has just started reads the boundaries around many points at once', async () => {
  const service = await runningService({}, database);
  const FIELDS = 12;
  const corners = Array.from({ length: FIELDS }, (_, n) => ({ west: 60 + n * 2 * WIDTH, south: 20 }));
  const features = corners.map(({ west, south }) => ({
    type: 'Feature',
    properties: {},
    geometry: square(west, south),
  }));
  const { body } = await service.send('PUT', '/fields', { type: 'FeatureCollection', features });
  const { database: countedDatabase, names } = counted();
  const finder = fieldFinder(countedDatabase as pg.Pool, async () => {});
  const recallAll = () =>
    Promise.all(
      corners.map(({ west, south }) => {
        const [lat, lon] = [south + WIDTH / 2, west + WIDTH / 2];
        return finder.recall({ lat, lon }, leafCell(lat, lon));
      }),
    );
  const geoids = body.fields.map((field: { geoid: string }) => [field.geoid]);
  expect((await recallAll()).map(found => found.geoids)).toEqual(geoids);
  // The points that come first are not held up until others are known.
  expect(names.filter(name => name === 'find_fields').length).toBeLessThanOrEqual(2);
  const before = names.length;
  expect((await recallAll()).map(found => found.geoids)).toEqual(geoids);
  expect(names).toHaveLength(before);
  await service.stop();
});
