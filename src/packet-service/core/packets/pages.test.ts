import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { packetHash } from '../packet-format/hash.ts';
import { canonicalJson } from '../packet-format/jcs.ts';
import { newUlid } from '../packet-format/ulid.ts';

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

interface Made {
  id: string;
  geoid: string;
  geoids: string[];
  type: string;
  time: number;
  lat: number;
  lon: number;
}

/** Stores a packet with exactly these properties, through POST /packets. */
async function store(made: Omit<Made, 'id'>): Promise<Made> {
  const id = newUlid();
  const Header = { id, geoid: made.geoid, timestamp: new Date(made.time).toISOString(), type: made.type };
  const Body = { message: '', geoids: made.geoids, capture_point: { lat: made.lat, lon: made.lon } };
  const hash = packetHash(canonicalJson(Header), canonicalJson(Body));
  const { status, text } = await service.send('POST', '/packets', {
    Header,
    Body,
    Footer: { hash, enc: 'none', lang: 'und' },
  });
  expect(status, text).toBe(201);
  return { id, ...made };
}

/** Reads page after page to the end; between two pages `meanwhile` happens. */
async function readAll(query: Record<string, string>, meanwhile?: () => Promise<unknown>): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const { status, body, text } = await service.send(
      'GET',
      `/packets?${new URLSearchParams({ ...query, cursor })}`,
    );
    expect(status, text).toBe(200);
    expect(body.count).toBe(body.packets.length);
    ids.push(...body.packets.map((packet: { Header: { id: string } }) => packet.Header.id));
    if (body.next_cursor === undefined) return ids;
    cursor = body.next_cursor;
    await meanwhile?.();
  }
}

const START = Date.UTC(2026, 2, 1);
// Few values each, so that timestamps, GeoIDs and locations coincide often.
const packets = fc.record({
  geoid: fc.constantFrom('a', 'b', 'c'),
  geoids: fc.subarray(['a', 'b', 'd']),
  type: fc.constantFrom('note', 'weather'),
  time: fc.integer({ min: 0, max: 5 }).map(hours => START + hours * 3_600_000),
  lat: fc.integer({ min: -3, max: 3 }).map(n => n * 30),
  lon: fc.integer({ min: -4, max: 4 }).map(n => n * 45),
});

test('pages give each packet once, in order, under concurrent inserts and equal timestamps', async () => {
  const before = await Promise.all(fc.sample(packets, { numRuns: 50, seed: 1 }).map(store));
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 4, max: 40 }),
      fc.constantFrom('asc', 'desc'),
      fc.array(packets, { maxLength: 3 }),
      async (limit, order, arriving) => {
        const known = new Set(before.map(({ id }) => id));
        const read = await readAll({ limit: String(limit), order }, () =>
          Promise.all(arriving.map(async packet => before.push(await store(packet)))),
        );
        expect(new Set(read).size).toBe(read.length);
        expect(read.filter(id => known.has(id)).length).toBe(known.size);
        const readPackets = read.map(id => before.find(packet => packet.id === id) as Made);
        const sorted = [...readPackets].sort((a, b) => a.time - b.time || (a.id < b.id ? -1 : 1));
        expect(readPackets).toEqual(order === 'asc' ? sorted : sorted.reverse());
      },
    ),
    { numRuns: runs(8) },
  );
});

test('every filter, alone and combined, finds what a scan of all packets finds', async () => {
  const all = await Promise.all(
    fc.sample(packets, { numRuns: 80, seed: 2 }).map(packet => store({ ...packet, type: `${packet.type}2` })),
  );
  const filters = fc.record(
    {
      geoid: fc.constantFrom('a', 'b', 'c', 'd', 'none'),
      type: fc.constantFrom('note2', 'weather2', 'unknown'),
      from: fc.integer({ min: -1, max: 6 }),
      to: fc.integer({ min: -1, max: 6 }),
      bbox: fc.tuple(
        fc.integer({ min: -180, max: 180 }),
        fc.integer({ min: -90, max: 0 }),
        fc.integer({ min: -180, max: 180 }),
        fc.integer({ min: 0, max: 90 }),
      ),
      near: fc.tuple(
        fc.integer({ min: -90, max: 90 }),
        fc.integer({ min: -180, max: 180 }),
        fc.integer({ min: 0, max: 20_000_000 }),
      ),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(filters, fc.integer({ min: 5, max: 50 }), async (filter, limit) => {
      const hour = (hours: number) => new Date(START + hours * 3_600_000).toISOString();
      const query = Object.fromEntries(
        Object.entries(filter).map(([name, value]) => [
          name,
          name === 'from' || name === 'to' ? hour(value as number) : String(value),
        ]),
      );
      const read = await readAll({ ...query, limit: String(limit) });
      const { geoid, type, from = -9, to = 99, bbox, near } = filter;
      const expected = all.filter(
        packet =>
          (geoid === undefined || packet.geoid === geoid || packet.geoids.includes(geoid)) &&
          (type === undefined || packet.type === type) &&
          packet.time >= START + from * 3_600_000 &&
          packet.time <= START + to * 3_600_000 &&
          (bbox === undefined || isInBox(packet, bbox)) &&
          (near === undefined || distance(packet, near) <= near[2]),
      );
      const ids = new Set(all.map(({ id }) => id));
      expect(read.filter(id => ids.has(id)).sort()).toEqual(expected.map(({ id }) => id).sort());
    }),
    {
      numRuns: runs(100),
      // Boxes that begin and end at the date line.
      examples: [180, -180, 170].flatMap(west =>
        [180, -180].map((east): [{ bbox: [number, number, number, number] }, number] => [
          { bbox: [west, -90, east, 90] },
          5,
        ]),
      ),
    },
  );
});

function isInBox({ lat, lon }: Made, [west, south, east, north]: [number, number, number, number]): boolean {
  const inside = west <= east ? lon >= west && lon <= east : lon >= west || lon <= east;
  return inside && lat >= south && lat <= north;
}

/** Great-circle distance in metres by the angle between unit vectors. */
function distance(packet: Made, [lat, lon]: [number, number, number]): number {
  const unit = (degreesLat: number, degreesLon: number): [number, number, number] => {
    const [a, b] = [(degreesLat * Math.PI) / 180, (degreesLon * Math.PI) / 180];
    return [Math.cos(a) * Math.cos(b), Math.cos(a) * Math.sin(b), Math.sin(a)];
  };
  const [a, b] = [unit(packet.lat, packet.lon), unit(lat, lon)];
  const cross = Math.hypot(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
  return 6_371_008.8 * Math.atan2(cross, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

test('limit is 100 unless given and 1000 at most; absent and empty filters do not filter', async () => {
  const page = await service.send('GET', '/packets?limit=1&geoid=&type=&cursor=&from=&bbox=');
  expect(page.body.count).toBe(1);
  expect((await service.send('GET', '/packets')).body.count).toBe(100);
  expect((await service.send('GET', '/packets?limit=5000')).status).toBe(200);
});

test('invalid parameters of a page are refused by name', async () => {
  const wrong: [string, string][] = [
    ['limit=0', 'limit'],
    ['limit=-3', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1.5', 'limit'],
    ['cursor=nonsense', 'cursor'],
    [`cursor=${newUlid()}`, 'cursor'],
    ['from=yesterday', 'from'],
    ['to=2026-02-30', 'to'],
    ['order=up', 'order'],
    ['bbox=1,2,3', 'bbox'],
    ['bbox=1,2,3,x', 'bbox'],
    ['bbox=0,50,10,40', 'bbox'],
    ['bbox=0,0,181,10', 'bbox'],
    ['near=1,2', 'near'],
    ['near=91,0,10', 'near'],
    ['near=0,0,-1', 'near'],
    ['geoid=a&geoid=b', 'geoid'],
  ];
  for (const [query, field] of wrong) {
    const { status, body } = await service.send('GET', `/packets?${query}`);
    expect(status, query).toBe(400);
    expect(Object.keys(body)).toEqual(['error']);
    expect(body.error, query).toMatch(new RegExp(`^${field} `));
  }
});

test('a page as GeoJSON has a Feature for each packet, with the packet as it is', async () => {
  const made = await store({ geoid: 'geojson', geoids: [], type: 'note', time: START, lat: 30, lon: 45 });
  const { headers, body } = await service.send('GET', '/packets?geoid=geojson', undefined, {
    accept: 'application/geo+json',
  });
  expect(headers.get('content-type')).toMatch(/^application\/geo\+json/);
  expect(body).toMatchObject({
    type: 'FeatureCollection',
    features: [
      {
        type: 'Feature',
        id: made.id,
        geometry: { type: 'Point', coordinates: [45, 30] },
        properties: { Header: { id: made.id }, Body: { message: '' }, Footer: { enc: 'none' } },
      },
    ],
    count: 1,
  });
});

test('times of a range can have an offset with an unescaped plus sign', async () => {
  await store({ geoid: 'plus', geoids: [], type: 'note', time: START, lat: 0, lon: 0 });
  const found = await service.send('GET', '/packets?geoid=plus&from=2026-03-01T02:00:00+02:00&to=2026-03-01');
  expect(found.body.count).toBe(1);
  const missed = await service.send('GET', '/packets?geoid=plus&from=2026-03-01T02:00:01%2B02:00');
  expect(missed.body.count).toBe(0);
  for (const [from, count] of [
    ['2026-03-01T02:00:00 02', 1],
    ['2026-03-01T02:00:00%2B02', 1],
    ['2026-03-01T02:00:01 02', 0],
    ['2026-02-28T22:00:00-02', 1],
    ['2026-03-01T02:00:00,5 0200', 0],
  ] as const) {
    const { status, body } = await service.send('GET', `/packets?geoid=plus&from=${from}`);
    expect([status, body.count], from).toEqual([200, count]);
  }
});

test('points that differ by next to nothing are near each other, however small the numbers', async () => {
  const tiny = [1e-200, -1e-200, 5e-324, -5e-324, 1e-11, 0];
  for (const [at, lat] of tiny.entries()) {
    const point = { lat, lon: tiny[(at + 2) % tiny.length] };
    const { status } = await service.send('POST', '/intake/scouting', {
      observed_at: '2026-03-01T08:15:00Z',
      capture_point: point,
      kind: 'tiny',
    });
    expect(status).toBe(201);
  }
  const near = async (text: string) => {
    const { status, body } = await service.send('GET', `/packets?near=${text}&limit=1000`);
    return [
      status,
      body.packets?.filter(({ Body }: { Body: { kind?: string } }) => Body.kind === 'tiny').length,
    ];
  };
  expect(await near('0,0,1')).toEqual([200, tiny.length]);
  expect(await near('1e-300,-1e-320,0.001')).toEqual([200, tiny.length]);
  expect(await near('1e-400,0,0.001')).toEqual([200, tiny.length]);
  expect(await near('90,1e-200,1e-300')).toEqual([200, 0]);
  expect(await near('-90,180,20100000')).toEqual([200, tiny.length]);
});
