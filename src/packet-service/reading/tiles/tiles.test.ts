import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { sumOf, tileAt } from '../../../../test/helpers/tiles.ts';
import { cellIndex, leafCell } from '../../../geometry/cells.ts';
import { openFileStore } from '../../../platform/files/index.ts';
import { readSettings } from '../../../platform/settings/settings.ts';
import { newUlid } from '../../core/packet-format/ulid.ts';
import { erasePacket } from '../../maintenance/erasure/erase.ts';

type Location = { lat: number; lon: number };
type Address = readonly [z: number, x: number, y: number];

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

/** The observations that the counts have to reach. */
let expected = 0;
let mark: string;
beforeEach(() => {
  mark = newUlid();
});

async function observe(locations: readonly Location[], fields: object = {}): Promise<string[]> {
  const items = locations.map(capture_point => ({
    intake: 'scouting',
    body: { observed_at: '2026-03-01T08:15:00Z', capture_point, ...fields },
  }));
  const { status, body, text } = await service.send('POST', '/intake/batch', items);
  expect(status, text).toBe(200);
  expected += locations.length;
  await eventually(async () => sumOf(await tileAt(service, 'observations', [0, 0, 0])) === expected);
  return body.results.map((result: { packet_uuid: string }) => result.packet_uuid);
}

/**
 * The tile of a location, by the formula of OpenStreetMap's wiki ("Slippy map tilenames"). Near a pole its two terms cancel
 * out each other's digits, so locations beyond the edge of the map are moved to it first.
 */
function tileOf({ lat, lon }: Location, z: number): Address {
  const last = 2 ** z - 1;
  const phi = (Math.max(-85.06, Math.min(85.06, lat)) * Math.PI) / 180;
  const y = ((1 - Math.log(Math.tan(phi) + 1 / Math.cos(phi)) / Math.PI) / 2) * 2 ** z;
  const within = (value: number) => Math.max(0, Math.min(last, Math.floor(value)));
  return [z, within(((lon + 180) / 360) * 2 ** z), within(y)];
}

/** The tiles around locations: rounding may put a location on an edge into either of two. */
function tilesAround(locations: readonly Location[], z: number): Address[] {
  const found = new Map<string, Address>();
  for (const location of locations) {
    const [, x, y] = tileOf(location, z);
    for (const dx of [-1, 0, 1]) {
      for (const dy of [-1, 0, 1]) {
        const address = [z, x + dx, y + dy] as const;
        if (address.slice(1).every(value => value >= 0 && value < 2 ** z)) found.set(address.join(), address);
      }
    }
  }
  return [...found.values()];
}

const edges = [-180, -135, -90, -45, -11.25, 0, 11.25, 45, 90, 135, 180];
const longitude = fc.oneof(fc.constantFrom(...edges), fc.double({ min: -180, max: 180, noNaN: true }));
const latitude = fc.oneof(
  fc.constantFrom(
    -90,
    -89.9999999999999,
    -85.0511287798066,
    -85.1,
    -66.51326044311186,
    0,
    5e-324,
    66.51326044311186,
    85.05112878,
    90,
  ),
  fc.double({ min: -90, max: 90, noNaN: true }),
);
const anywhere = fc.record({ lat: latitude, lon: longitude });
const together = fc.record({
  lat: fc.double({ min: -1.96, max: -1.95, noNaN: true }),
  lon: fc.double({ min: 30.05, max: 30.06, noNaN: true }),
});

test('every observation is in exactly one tile of a zoom, and clusters sum to the total', async () => {
  const all: Location[] = [];
  const groups = fc.array(fc.oneof(anywhere, together), { minLength: 12, maxLength: 12 });
  const property = fc.asyncProperty(groups, async locations => {
    const ids = await observe(locations);
    all.push(...locations);
    for (let z = 0; z <= 4; z++) {
      let sum = 0;
      for (const address of allTiles(z)) sum += sumOf(await tileAt(service, 'observations', address));
      expect(sum, `zoom ${z}`).toBe(expected);
    }
    for (const z of [9, 12, 13]) {
      let sum = 0;
      for (const address of tilesAround(all, z)) sum += sumOf(await tileAt(service, 'observations', address));
      expect(sum, `zoom ${z}`).toBe(expected);
    }
    for (const z of [14, 19, 22]) {
      const found: string[] = [];
      for (const address of tilesAround(locations, z)) {
        const features = await tileAt(service, 'observations', address);
        found.push(...features.map(({ properties }) => properties.id));
      }
      expect(found.filter(id => ids.includes(id)).sort(), `zoom ${z}`).toEqual(ids.toSorted());
      expect(new Set(found).size, `zoom ${z}`).toBe(found.length);
    }
  });
  await fc.assert(property, { numRuns: runs(3), endOnFailure: true });
});

function allTiles(z: number): Address[] {
  const numbers = Array.from({ length: 2 ** z }, (_, number) => number);
  return numbers.flatMap(x => numbers.map(y => [z, x, y] as const));
}

test('a cluster is at the mean position of its observations, a single one at its place and with its id', async () => {
  const locations = [
    { lat: -1.9403, lon: 29.8739 },
    { lat: -1.9405, lon: 29.8741 },
    { lat: -2.4, lon: 28.9 },
  ];
  const ids = await observe(locations);
  const features = await tileAt(service, 'observations', tileOf(locations[0] as Location, 7));
  const near = (lon: number, lat: number) =>
    features.filter(({ geometry }) => {
      const [x = 0, y = 0] = geometry.coordinates as number[];
      return Math.abs(x - lon) < 0.001 && Math.abs(y - lat) < 0.001;
    });
  expect(near(29.874, -1.9404).map(({ properties }) => properties)).toEqual([
    { count: 2, cell: expect.stringMatching(/^[0-9a-f]{1,16}$/) },
  ]);
  expect(near(28.9, -2.4).map(({ properties }) => properties.id)).toEqual([ids[2]]);
  const [feature] = await tileAt(service, 'observations', tileOf(locations[2] as Location, 16));
  expect(feature?.properties).toEqual({
    count: 1,
    id: ids[2],
    type: 'note',
    time: '2026-03-01T08:15:00.000Z',
  });
  expect((await service.send('GET', `/packets/${feature?.properties.id}`)).status).toBe(200);
});

test('time, type, GeoID and the text of a field filter tiles of any zoom', async () => {
  const location = { lat: 12.3456, lon: -55.4321 };
  const other = { lat: 12.3457, lon: -55.4322 };
  const [maize] = await observe([location], { crop: `Maize ${mark}`, observed_at: '2025-01-01T00:00:00Z' });
  const [beans] = await observe([other], { crop: `Beans ${mark}`, rows: 17, further: { crop: 'maize' } });
  const { geoid } = (await service.send('GET', `/packets/${maize}`)).body.Header;
  for (const z of [3, 8, 15]) {
    const idsOf = async (query: string) => {
      const features = await tileAt(service, 'observations', tileOf(location, z), query);
      expect(features.every(({ layer }) => layer === 'observations')).toBe(true);
      return features.map(({ properties }) => properties.id ?? properties.count);
    };
    expect(await idsOf('?to=2025-01-01'), `zoom ${z}`).toEqual([maize]);
    expect(await idsOf('?from=2025-06-01T00:00:00Z&type=note&field=crop&text=beans'), `zoom ${z}`).toEqual([
      beans,
    ]);
    expect(await idsOf(`?field=crop&text=${encodeURIComponent(`mAIZE ${mark}`)}`), `zoom ${z}`).toEqual([
      maize,
    ]);
    expect(await idsOf('?field=rows&text=17'), `zoom ${z}`).toEqual([beans]);
    expect(await idsOf(`?geoid=${geoid}`), `zoom ${z}`).toEqual([maize]);
    expect(await idsOf('?type=weather'), `zoom ${z}`).toEqual([]);
    expect(await idsOf('?type=note&field=colour&text=red'), `zoom ${z}`).toEqual([]);
  }
  expect(await tileAt(service, 'observations', [15, 0, 0], `?geoid=${geoid}`)).toEqual([]);
});

test('messages are not on maps, and erased observations leave them', async () => {
  const location = { lat: 40.1234, lon: 100.4321 };
  const [first, second] = await observe([location, location]);
  const { thread_id } = (await service.send('POST', '/chat/threads', { name: 'T', created_by: 'ana' })).body;
  const said = await service.send('POST', '/intake/chat-message', {
    thread_id,
    text: 'x',
    capture_point: location,
  });
  expect(said.status).toBe(201);
  const counts = async () =>
    Promise.all(
      [0, 7, 13, 14, 18].map(async z => sumOf(await tileAt(service, 'observations', tileOf(location, z)))),
    );
  // What comes after the message has been counted only after it.
  await observe([{ lat: -40, lon: -100 }]);
  expect((await counts()).slice(1)).toEqual([2, 2, 2, 2]);
  const files = openFileStore(readSettings({}));
  const erase = (id: string) =>
    erasePacket({ connection: service.connection, files, patienceMs: 0 }, id, 'asked');
  await erase(first as string);
  expected -= 1;
  expect(await counts()).toEqual([expected, 1, 1, 1, 1]);
  await erase(second as string);
  expected -= 1;
  expect(await counts()).toEqual([expected, 0, 0, 0, 0]);
  const { rows } = await service.pool.query('SELECT 1 FROM tile_cells WHERE count = 0 OR single = $1', [
    first,
  ]);
  expect(rows).toEqual([]);
});

test('an observation that is erased before it was counted is never counted', async () => {
  const location = { lat: 41.1234, lon: 101.4321 };
  const holder = await service.pool.connect();
  await holder.query('BEGIN');
  await holder.query('LOCK TABLE tile_state IN ACCESS EXCLUSIVE MODE');
  const sent = { observed_at: '2026-03-01T08:15:00Z', capture_point: location };
  const { packet_uuid } = (await service.send('POST', '/intake/scouting', sent)).body;
  const files = openFileStore(readSettings({}));
  const erased = erasePacket({ connection: service.connection, files, patienceMs: 0 }, packet_uuid, 'asked');
  await holder.query('COMMIT');
  holder.release();
  await erased;
  await observe([{ lat: -41, lon: -101 }]);
  expect(await tileAt(service, 'observations', tileOf(location, 13))).toEqual([]);
});

test('a tile is revalidated by its ETag, which changes with it', async () => {
  const location = { lat: 60.5, lon: 60.5 };
  await observe([location]);
  const path = `/tiles/observations/${tileOf(location, 6).join('/')}.mvt`;
  const first = await service.send('GET', path);
  const tag = first.headers.get('etag') as string;
  expect(first.headers.get('content-type')).toBe('application/vnd.mapbox-vector-tile');
  expect(first.headers.get('cache-control')).toBe('private, no-cache');
  const again = await service.send('GET', path, undefined, { 'if-none-match': tag });
  expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', tag]);
  await observe([location]);
  const later = await service.send('GET', path, undefined, { 'if-none-match': tag });
  expect(later.status).toBe(200);
  expect(later.headers.get('etag')).not.toBe(tag);
});

test('tile numbers outside the zoom and incomplete filters are refused by name', async () => {
  const refused: [string, RegExp][] = [
    ['/tiles/observations/23/0/0.mvt', /^z /],
    ['/tiles/observations/a/0/0.mvt', /^z /],
    ['/tiles/observations/3/8/0.mvt', /^x must be 0 to 7 at zoom 3/],
    ['/tiles/observations/3/0/8.mvt', /^y must be 0 to 7 at zoom 3/],
    ['/tiles/observations/3/-1/0.mvt', /^x /],
    ['/tiles/fields/3/0/1.5.mvt', /^y /],
    ['/tiles/fields/0/1/0.mvt', /^x must be 0 to 0/],
    ['/tiles/observations/0/0/0.mvt?field=crop', /^text is required/],
    ['/tiles/observations/0/0/0.mvt?text=maize', /^field is required/],
    ['/tiles/observations/0/0/0.mvt?from=yesterday', /^from must be/],
    [`/tiles/observations/0/0/0.mvt?field=a&text=${'x'.repeat(101)}`, /^text /],
    ['/tiles/observations/0/0/0.mvt?bbox=1,2,3,4', /bbox/],
    ['/tiles/fields/0/0/0.mvt?geoid=g', /geoid/],
  ];
  for (const [path, message] of refused) {
    const { status, body } = await service.send('GET', path);
    expect([status, body.error], path).toEqual([400, expect.stringMatching(message)]);
  }
});

test('more packets than a tile reads are grouped, and the tile says that it is not complete', async () => {
  const location = { lat: 20.5, lon: 20.5 };
  const cell = cellIndex(leafCell(location.lat, location.lon), 20);
  // Statements have a deadline, which a busy machine may miss.
  for (let from = 1; from <= 22_000; from += 5500) {
    await service.pool.query(
      `WITH made AS (
         INSERT INTO packets (id, geoid, ts, type, lat, lon, cell, header, body, footer)
         SELECT gen_random_uuid(), 'many', '2020-01-01'::timestamptz + n * interval '1 s', 'bulk', $1, $2, $3, '{}',
           '{"n":"' || n || '"}', '{}' FROM generate_series($4::int, $5::int) AS n RETURNING id
       )
       INSERT INTO packet_log (position, packet_id, kind)
       SELECT (SELECT max(position) FROM packet_log) + row_number() OVER (), id, 'packet' FROM made`,
      [location.lat, location.lon, cell, from, from + 5499],
    );
  }
  expected += 22_000;
  await observe([{ lat: 20.6, lon: 20.6 }]);
  const layersOf = async (z: number, query = '') => {
    const features = await tileAt(service, 'observations', tileOf(location, z), query);
    const said = features.filter(({ layer }) => layer === 'truncated').map(({ properties }) => properties);
    return { said, sum: sumOf(features), points: features.length - said.length };
  };
  expect(await layersOf(10)).toEqual({ said: [], sum: 22_001, points: 2 });
  const full = { said: [{ read: 20_000 }], sum: 20_000, points: 1 };
  expect(await layersOf(16)).toEqual(full);
  // The newest ones, of a filter that an index has.
  expect(await layersOf(10, '?type=bulk')).toEqual(full);
  expect(await layersOf(10, '?geoid=many')).toEqual(full);
  expect(await layersOf(16, '?geoid=many&to=2020-01-01T00:30:00Z')).toEqual({
    said: [],
    sum: 1800,
    points: 1800,
  });
  // 2200, 12200 and 22000.
  expect((await layersOf(10, '?type=bulk&field=n&text=2200')).sum).toBe(3);
}, 60_000);
