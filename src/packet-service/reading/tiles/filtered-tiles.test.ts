import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { sumOf, tileAt } from '../../../../test/helpers/tiles.ts';
import { cellIndex, cellToken, leafCell } from '../../../geometry/cells.ts';
import { transaction } from '../../../platform/database/database.ts';
import { openFileStore } from '../../../platform/files/index.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import { newUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';
import { erasePacket } from '../../maintenance/erasure/erase.ts';
import { uncountObservation } from './counts.ts';
import { levelOf, project, SIDE } from './mercator.ts';
import { findState } from './store.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

interface Observation {
  id: string;
  lat: number;
  lon: number;
  day: number;
  crop: unknown;
}

type Seen = Omit<Observation, 'id'>;

async function observe(made: readonly Seen[]): Promise<Observation[]> {
  const items = made.map(({ lat, lon, day, crop }, n) => ({
    intake: 'scouting',
    body: { observed_at: dayOf(day), capture_point: { lat, lon }, crop, ...INNER[n % INNER.length] },
  }));
  const { status, body, text } = await service.send('POST', '/intake/batch', items);
  expect(status, text).toBe(200);
  expect(body.results.filter((result: object) => !('packet_uuid' in result))).toEqual([]);
  return made.map((observation, n) => ({ ...observation, id: body.results[n].packet_uuid }));
}

/** Objects with the same name inside, before the member or after it, or none. */
const INNER = [{}, { about: { crop: 'Maize' } }, { further: { crop: 'Maize' } }];

const dayOf = (day: number) => `2026-03-${String(day).padStart(2, '0')}T08:15:00Z`;

/** Waits until everything is counted: until then tiles can be outdated. */
async function counted(): Promise<void> {
  await eventually(async () => {
    const stored = await service.pool.query('SELECT array_agg(id) AS ids FROM packets');
    const { rows } = await service.pool.query(
      `SELECT 1 FROM tile_state WHERE position = (SELECT max(position) FROM packet_log)
         AND (SELECT count(DISTINCT packet_id) FROM packet_log WHERE packet_id = ANY ($1)) = cardinality($1::uuid[])`,
      [stored.rows[0].ids],
    );
    return rows.length === 1;
  });
}

/** Degrees that are on no edge of a tile, where JavaScript and PostgreSQL may round differently. */
const degrees = (least: number, most: number) =>
  fc.integer({ min: least * 10_000, max: most * 10_000 }).map(steps => (steps + 0.3) / 10_000);
const location = fc.oneof(
  fc.record({ lat: degrees(-1.96, -1.95), lon: degrees(30.05, 30.06) }),
  fc.record({ lat: degrees(-84, 84), lon: degrees(-179, 179) }),
);
const crop = fc.constantFrom<unknown>(
  'maize',
  'MAIZE and beans',
  'Beans',
  '',
  '"maize"',
  'a\\b',
  'Ñandú',
  'line\nmaize',
  '"crop":"maize"',
  17,
  1.5,
  true,
  null,
  undefined,
  ['maize'],
  { crop: 'beans' },
  { name: 'maize' },
);
const seen = fc
  .tuple(location, fc.integer({ min: 1, max: 4 }), crop)
  .map(([{ lat, lon }, day, of]) => ({ lat, lon, day, crop: of }));

/** A filter as a query, and which observations it finds. */
const filters: [query: string, finds: (observation: Seen) => boolean][] = [
  ['from=2026-03-02&to=2026-03-02', ({ day }) => day === 2],
  ['type=note&from=2026-03-03', ({ day }) => day >= 3],
  ['type=weather', () => false],
  ...['maize', 'BEANS', 'ñAND', '"', '\\', 'e\nm', '7', '1.5', 'tru', 'name'].map(
    (text): [string, (observation: Seen) => boolean] => [
      `field=crop&text=${encodeURIComponent(text)}`,
      ({ crop: value }) => contains(value, text),
    ],
  ),
  ['to=2026-03-02&field=crop&text=maize', ({ day, crop: value }) => day <= 2 && contains(value, 'maize')],
];

function contains(value: unknown, text: string): boolean {
  if (value === null || value === undefined) return false;
  const shown = typeof value === 'string' ? value : JSON.stringify(value);
  return shown.toLowerCase().includes(text.toLowerCase());
}

test('a filtered tile has exactly the observations that a scan of all of them finds', async () => {
  const all: Observation[] = [];
  const property = fc.asyncProperty(
    fc.array(seen, { minLength: 30, maxLength: 30 }),
    fc.constantFrom(0, 1, 2, 7, 12, 13),
    async (made, z) => {
      all.push(...(await observe(made)));
      await counted();
      const byAddress = new Map(all.slice(-30).map(of => [addressOf(of, z).join(), addressOf(of, z)]));
      const addresses = [...byAddress.values()].slice(0, 4);
      await Promise.all(
        filters.flatMap(([query, finds]) =>
          addresses.map(async address => {
            const features = await tileAt(service, 'observations', address, `?${query}`);
            const found = features.map(({ layer, properties }) => ({ layer, ...properties }));
            const inside = all.filter(of => finds(of) && `${addressOf(of, z)}` === `${address}`);
            expect(found, `${address} ${query}`).toEqual(clustersOf(inside, z));
          }),
        ),
      );
    },
  );
  await fc.assert(property, { numRuns: runs(8), endOnFailure: true });
}, 120_000);

function addressOf({ lat, lon }: Seen, z: number): [z: number, x: number, y: number] {
  const { x, y } = project(lat, lon);
  return [z, Math.floor((x / SIDE) * 2 ** z), Math.floor((y / SIDE) * 2 ** z)];
}

/** The observations of a tile: their number in each cell, and the id of a single one. */
function clustersOf(inside: readonly Observation[], z: number): object[] {
  const level = levelOf(z >> 1);
  const groups = Map.groupBy(inside, ({ lat, lon }) => cellIndex(leafCell(lat, lon), level));
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([cell, [first, ...others]]) => ({
      layer: 'observations',
      count: 1 + others.length,
      cell: cellToken(cell, level),
      ...(others.length === 0 && { id: first?.id }),
    }));
}

test('an observation that arrives is in the tile once it is counted, and an erased one in none after its erasure', async () => {
  const at = { lat: 50.5, lon: 50.5, crop: 'sorghum' };
  const tilesOf = (query: string) =>
    Promise.all(
      [0, 6, 13, 15].map(async z =>
        sumOf(await tileAt(service, 'observations', addressOf({ ...at, day: 20 }, z), query)),
      ),
    );
  const queries = ['?from=2026-03-20', '?field=crop&text=sorghum', '?type=note&field=crop&text=sorghum'];
  const sums = () => Promise.all(queries.map(tilesOf));
  const expected = (count: number) => queries.map(() => [count, count, count, count]);
  expect(await sums()).toEqual(expected(0));
  const erased = openFileStore(readSettings({}));
  for (let n = 1; n <= 3; n++) {
    const made = await observe([
      { ...at, day: 20 },
      { ...at, day: 21 },
    ]);
    await counted();
    expect(await sums()).toEqual(expected(n + 1));
    // Asked for all the time, so that something is being read or kept at any moment of the erasure.
    const isErased = new AbortController();
    const asking = (async () => {
      while (!isErased.signal.aborted) await sums();
    })();
    const erasing = { connection: service.connection, files: erased, patienceMs: 0 };
    await erasePacket(erasing, made[0]?.id as string, 'asked');
    expect(await sums()).toEqual(expected(n));
    isErased.abort();
    await asking;
  }
});

test('erasing an observation that is not counted yet also invalidates cached reads', async () => {
  await observe([{ lat: 1, lon: 1, day: 1, crop: '' }]);
  await counted();
  const before = await findState(service.pool);
  expect(before).toBeDefined();
  await transaction(service.pool, database => uncountObservation(database, ulidToUuid(newUlid())));
  expect(await findState(service.pool)).not.toBe(before);
});
