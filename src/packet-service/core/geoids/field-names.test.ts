import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { fieldsByName } from './store.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(async () => {
  await service.stop();
});

let east = 20;
/** Registers a field on new ground. */
async function register(name?: string): Promise<string> {
  east += 0.01;
  const [west, south, size] = [east, 1, 0.001];
  const ring = [
    [west, south],
    [west + size, south],
    [west + size, south + size],
    [west, south + size],
    [west, south],
  ];
  const { body } = await service.send('PUT', '/fields', {
    type: 'Feature',
    properties: name === undefined ? {} : { name },
    geometry: { type: 'Polygon', coordinates: [ring] },
  });
  return body.fields[0].geoid;
}

const named = async (query: Record<string, string>) =>
  (await service.send('GET', `/fields/names?${new URLSearchParams(query)}`)).body;

test('names are found by GeoIDs; fields without one and other GeoIDs have none', async () => {
  const [meadow, nameless, orchard] = [
    await register('Meadow'),
    await register(),
    await register('Verger à l’est'),
  ];
  const geoids = [orchard, 'f'.repeat(64), nameless, meadow].join(',');
  const { fields } = await named({ geoids });
  expect(fields).toHaveLength(2);
  expect(fields).toEqual(
    expect.arrayContaining([
      { geoid: meadow, name: 'Meadow' },
      { geoid: orchard, name: 'Verger à l’est' },
    ]),
  );
});

test('fields are found by the start of their names, in any case and script, pattern characters included', async () => {
  const names = ['Łąka 2', 'łąka 1', 'Łąkowa', '50% shade', '50_shade', 'सेब', 'सेब 2', 'a', 'A\u{10ffff}'];
  for (const name of names) await register(name);
  const found = async (name: string) =>
    (await named({ name })).fields.map((field: { name: string }) => field.name);
  expect(await found('łĄKA')).toEqual(['łąka 1', 'Łąka 2']);
  expect(await found('łąk')).toEqual(['łąka 1', 'Łąka 2', 'Łąkowa']);
  expect(await found('50%')).toEqual(['50% shade']);
  expect(await found('50_')).toEqual(['50_shade']);
  expect(await found('सेब')).toEqual(['सेब', 'सेब 2']);
  expect(await found('A')).toEqual(['a', 'A\u{10ffff}']);
  expect(await found('nothing')).toEqual([]);
});

test('at most twenty are found, in the order of their names', async () => {
  for (let n = 30; n >= 10; n--) await register(`Plot ${n}`);
  const { fields } = await named({ name: 'plot' });
  expect(fields.map(({ name }: { name: string }) => name)).toEqual(
    Array.from({ length: 20 }, (_, n) => `Plot ${n + 10}`),
  );
});

test('a query has either GeoIDs or a name, and not too many', async () => {
  const refused = async (query: Record<string, string>) => (await named(query)).error;
  const geoid = '0'.repeat(64);
  expect(await refused({})).toBe('send either geoids or name in the query');
  expect(await refused({ geoids: geoid, name: 'a' })).toBe('send either geoids or name in the query');
  expect(await refused({ geoids: 'abc' })).toMatch(/^geoids must match the pattern/);
  expect(await refused({ geoids: Array(101).fill(geoid).join(',') })).toMatch(/^geoids /);
  expect(await refused({ name: 'a'.repeat(201) })).toMatch(/^name /);
  expect((await named({ geoids: Array(100).fill(geoid).join(',') })).fields).toEqual([]);
});

test('the index finds names among many fields, in their order', async () => {
  const client = await service.pool.connect();
  try {
    // A table of a few rows is read whole.
    await client.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
    const { text, values } = fieldsByName({ beginning: 'pl', limit: 20 });
    const { rows } = await client.query({ text: `EXPLAIN ${text}`, values });
    const plan = rows.map(row => row['QUERY PLAN']).join('\n');
    expect(plan).toMatch(/Index Scan using fields_by_name/);
    expect(plan).toMatch(/Index Cond: .*~>=~ .*~<=~/);
    expect(plan).not.toMatch(/Sort/);
  } finally {
    client.release(true);
  }
});
