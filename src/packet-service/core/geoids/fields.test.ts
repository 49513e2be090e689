import { S2LatLng, S2LatLngRect, S2RegionCoverer } from 'nodes2ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../../../test/helpers/eventually.ts';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { ADVISORY_LOCKS } from '../../../platform/database/locks/advisory-locks.ts';
import { lockRegistration } from './store.ts';

type Position = [lon: number, lat: number];

const README_FIELD: Position[] = [
  [76.88855767250062, 30.311450431756946],
  [76.88841819763184, 30.310732833916543],
  [76.88945889472961, 30.31070505582999],
  [76.8894535303116, 30.311399505631794],
  [76.88855767250062, 30.311450431756946],
];
const README_GEOID = '0d8b4afb3b3332f75cf5b1889b0564a9e7a80f4bad239a9a593e1665210c3079';

const box = (west: number, south: number, width: number, height = width): Position[] => [
  [west, south],
  [west + width, south],
  [west + width, south + height],
  [west, south + height],
  [west, south],
];
const feature = (ring: Position[], name?: string, ...holes: Position[][]) => ({
  type: 'Feature',
  properties: name === undefined ? {} : { name },
  geometry: { type: 'Polygon', coordinates: [ring, ...holes] },
});
const collection = (...features: object[]) => ({ type: 'FeatureCollection', features });

let service: RunningService;
/** A second process over the same database. */
let other: RunningService;

beforeAll(async () => {
  service = await runningService();
  other = await runningService({}, service);
});
afterAll(async () => {
  await other.stop();
  await service.stop();
});

/** Registers one field; its ground must be new. */
async function register(ring: Position[], ...holes: Position[][]): Promise<string> {
  const { status, body } = await service.send('PUT', '/fields', feature(ring, undefined, ...holes));
  expect({ status, registered: body.fields?.[0].status }, JSON.stringify(body)).toEqual({
    status: 200,
    registered: 'registered',
  });
  return body.fields[0].geoid;
}

async function observe(where: object, at: RunningService = service): Promise<{ geoid: string; id: string }> {
  const sent = await at.send('POST', '/intake/scouting', { observed_at: '2026-03-01T08:15:00Z', ...where });
  expect(sent.status, sent.text).toBe(201);
  const { body } = await at.send('GET', `/packets/${sent.body.packet_uuid}`);
  return { geoid: body.Header.geoid, id: sent.body.packet_uuid };
}

const geoidAt = async (lat: number, lon: number, at?: RunningService) =>
  (await observe({ capture_point: { lat, lon } }, at)).geoid;

describe('registering fields', () => {
  test('gives the registry’s GeoID, and points inside the field have it from then on', async () => {
    const before = await geoidAt(30.311, 76.889);
    const { status, body } = await service.send('PUT', '/fields', feature(README_FIELD, 'Lower meadow'));
    expect(status).toBe(200);
    expect(body.fields).toEqual([
      { geoid: README_GEOID, area_m2: expect.any(Number), name: 'Lower meadow', status: 'registered' },
    ]);
    expect(body.fields[0].area_m2).toBeCloseTo(7564, -3);
    expect(before).not.toBe(README_GEOID);
    expect(await geoidAt(30.311, 76.889)).toBe(README_GEOID);
    expect(await geoidAt(30.3115, 76.889)).not.toBe(README_GEOID);
  });

  test('in one process takes effect for the next observation in any other', async () => {
    const geoid = await register(box(10, 10, 0.001));
    expect(await geoidAt(10.0005, 10.0005, other)).toBe(geoid);
    for (let k = 0; k < 20; k++) {
      const west = 11 + k / 100;
      const next = await register(box(west, 10, 0.001));
      expect(await geoidAt(10.0005, west + 0.0005, other)).toBe(next);
    }
  });

  test('answers for each field of a collection in order, also if one occurs twice', async () => {
    const [first, second] = [feature(box(12, 10, 0.001), 'one'), feature(box(12.1, 10, 0.002))];
    const { body } = await service.send('PUT', '/fields', collection(first, second, first));
    const [a, b, c] = body.fields;
    expect([a.status, b.status, c.status]).toEqual(['registered', 'registered', 'already_registered']);
    expect([c.geoid, c.name]).toEqual([a.geoid, 'one']);
    expect(b.geoid).not.toBe(a.geoid);
    expect(b.area_m2 / a.area_m2).toBeCloseTo(4, 3);
  });

  test('registers none of a collection when one is wrong, and says which', async () => {
    const open = feature(box(13.1, 10, 0.001).slice(0, 4));
    const good = feature(box(13, 10, 0.001));
    const { status, body } = await service.send('PUT', '/fields', collection(good, good, good, open));
    expect({ status, body }).toEqual({
      status: 400,
      body: {
        error:
          'features[3].geometry.coordinates[0]: the ring is not closed; its last position must equal its first',
      },
    });
    const { body: listed } = await service.send('GET', '/fields?bbox=12.9,9.9,13.2,10.1');
    expect(listed.features).toEqual([]);
  });
});

describe('registering in many requests at once', () => {
  const waiting = "SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted";

  /** Keeps registrations from going on, as another process that registers does. */
  async function otherRegistration(): Promise<{ waits: () => Promise<number>; end: () => Promise<void> }> {
    const holder = await service.pool.connect();
    await holder.query('SELECT pg_advisory_lock($1)', [ADVISORY_LOCKS.registration]);
    return {
      waits: async () => (await holder.query(waiting)).rows.length,
      async end() {
        await holder.query('SELECT pg_advisory_unlock($1)', [ADVISORY_LOCKS.registration]);
        holder.release();
      },
    };
  }

  test('holds one connection: reads continue while the first request waits for its turn', async () => {
    const other = await otherRegistration();
    const requests = Array.from({ length: 14 }, (_, k) =>
      service.send('PUT', '/fields', feature(box(70 + k / 100, 10, 0.001))),
    );
    await eventually(async () => (await other.waits()) > 0);
    for (let n = 0; n < 10; n++) expect((await service.send('GET', '/packets?limit=1')).status).toBe(200);
    expect(await other.waits()).toBe(1);
    await other.end();
    for (const { status } of await Promise.all(requests)) expect(status).toBe(200);
  });

  test('beyond the number that can wait is refused with 503', async () => {
    const other = await otherRegistration();
    let refusals = 0;
    const requests = Array.from({ length: 60 }, async (_, k) => {
      const answer = await service.send('PUT', '/fields', feature(box(71 + k / 100, 10, 0.001)));
      if (answer.status === 503) refusals++;
      return answer;
    });
    await eventually(() => refusals === 9);
    await other.end();
    const answers = await Promise.all(requests);
    for (const { status, headers } of answers.filter(({ status }) => status !== 200)) {
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    }
  });
});

describe('registering something that is not a field', () => {
  test.each([
    ['not an object', [1], 'the body must be an object'],
    ['another type', { type: 'Polygon', coordinates: [] }, 'type must be Feature or FeatureCollection'],
    [
      'no features',
      { type: 'FeatureCollection', features: [] },
      'features must be an array of 1 to 1000 Features',
    ],
    [
      'no Feature',
      collection(feature(box(1, 1, 0.001)), { type: 'Point' }),
      'features[1].type must be Feature',
    ],
    ['null', collection(null as unknown as object), 'features[0] must be an object'],
    [
      'a name that is no text',
      { ...feature(box(1, 1, 0.001)), properties: { name: 7 } },
      'properties.name must be a string of at most 200 characters',
    ],
    [
      'no geometry',
      { type: 'Feature', properties: null, geometry: null },
      'geometry.type must be Polygon or MultiPolygon',
    ],
    [
      'more than 1000 acres',
      feature(box(14, 0, 0.0183)),
      'geometry: a field can have at most 1000 acres (404.7 ha); this one has 1018.6',
    ],
  ])('refuses %s', async (_what, body, error) => {
    expect(await service.send('PUT', '/fields', body)).toMatchObject({ status: 400, body: { error } });
  });
});

describe('registering neighbours', () => {
  test('gives fields of one level-13 cell different GeoIDs', async () => {
    const geoids = [await register(box(15, 10, 0.001)), await register(box(15.002, 10, 0.001))];
    geoids.push(await register(box(15.004, 10, 0.001)));
    expect(new Set(geoids).size).toBe(3);
    for (const [k, geoid] of geoids.entries())
      expect(await geoidAt(10.0005, 15.0005 + k * 0.002)).toBe(geoid);
  });

  test('keeps fields of one bounding box apart when they are different ground', async () => {
    const [w, s, e, n] = [16, 10, 16.004, 10.004];
    const halves: Position[][] = [
      [
        [w, s],
        [e, s],
        [e, n],
        [w, s],
      ],
      [
        [w, s],
        [e, n],
        [w, n],
        [w, s],
      ],
      [
        [w, s],
        [e, s],
        [w, n],
        [w, s],
      ],
      [
        [e, s],
        [e, n],
        [w, n],
        [e, s],
      ],
    ];
    const geoids = [];
    for (const half of halves) geoids.push(await register(half));
    expect(new Set(geoids).size).toBe(4);
  });

  test('serialises processes that register the same area at the same time', async () => {
    const ring = box(17, 10, 0.003);
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, k) =>
        (k % 2 === 0 ? service : other).send('PUT', '/fields', feature(ring)),
      ),
    );
    const fields = answers.map(({ body }) => body.fields[0]);
    expect(new Set(fields.map(({ geoid }) => geoid)).size).toBe(1);
    expect(fields.filter(({ status }) => status === 'registered')).toHaveLength(1);
  });
});

describe('the same ground', () => {
  const level20 = (ring: Position[]) => {
    const [[west, south], , [east, north]] = ring as [Position, Position, Position];
    const coverer = new S2RegionCoverer().setMinLevel(20).setMaxLevel(20);
    const from = S2LatLng.fromDegrees(south, west);
    const cells = coverer.getCoveringCells(
      S2LatLngRect.fromPointPair(from, S2LatLng.fromDegrees(north, east)),
    );
    return new Set(cells.map(cell => cell.toToken()));
  };

  test('is where level-20 cells agree by more than 95 %, as a library counts them', async () => {
    let same = 0;
    for (let k = 0; k < 30; k++) {
      const field = box(20 + k / 10, 20, 0.003);
      const again = box(20 + k / 10 + k * 4e-6, 20, 0.003, 0.003 + k * 2e-6);
      const [first, second] = [level20(field), level20(again)] as [Set<string>, Set<string>];
      const alike = first.intersection(second).size / first.union(second).size > 0.95;
      const { body } = await service.send('PUT', '/fields', collection(feature(field), feature(again)));
      expect(body.fields[1].status, `step ${k}`).toBe(alike ? 'already_registered' : 'registered');
      expect(body.fields[0].geoid === body.fields[1].geoid).toBe(alike);
      if (alike) same++;
    }
    expect(same).toBeGreaterThan(5);
    expect(same).toBeLessThan(25);
  });

  test('is recognised when walked again: a tenth of a metre off, from another corner, in the other direction', async () => {
    const geoid = await register(README_FIELD.map(([lon, lat]) => [lon + 1, lat]));
    const again = README_FIELD.slice(0, 4).map(
      ([lon, lat], k): Position => [lon + 1 + 1e-6 * (k % 2), lat - 1e-6],
    );
    const turned = [again[2], again[1], again[0], again[3], again[2]] as Position[];
    const { body } = await service.send('PUT', '/fields', feature(turned));
    expect(body.fields[0]).toMatchObject({ geoid, status: 'already_registered' });
  });
});

describe('a point in several fields', () => {
  test('gets the GeoID of the smallest, and the packet is found by the others too', async () => {
    const large = await register(box(30, 30, 0.01));
    const small = await register(box(30.002, 30.002, 0.002));
    const middle = await register(box(30.001, 30.001, 0.005));
    const { geoid, id } = await observe({ capture_point: { lat: 30.003, lon: 30.003 } });
    expect(geoid).toBe(small);
    for (const fieldGeoid of [small, middle, large]) {
      const { body } = await service.send('GET', `/packets?geoid=${fieldGeoid}`);
      expect(body.packets.map((packet: { Header: { id: string } }) => packet.Header.id)).toEqual([id]);
    }
  });

  test('of the same size gets the lower GeoID', async () => {
    const step = 2 ** -10;
    const geoids = [];
    for (const west of [31, 31 + step, 31 + 2 * step]) geoids.push(await register(box(west, 30, 4 * step)));
    expect(await geoidAt(30 + step, 31 + 2.5 * step)).toBe(geoids.toSorted()[0]);
  });

  test('is not in a hole, but is on its edge', async () => {
    const geoid = await register(box(32, 30, 0.0078125), box(32.001953125, 30.001953125, 0.001953125));
    expect(await geoidAt(30.001, 32.001)).toBe(geoid);
    expect(await geoidAt(30.0029, 32.0029)).not.toBe(geoid);
    expect(await geoidAt(30.001953125, 32.0029)).toBe(geoid);
  });

  test('is found across the date line, on either side and on it', async () => {
    const geoid = await register([
      [179.995, 5],
      [-179.995, 5],
      [-179.995, 5.005],
      [179.995, 5.005],
      [179.995, 5],
    ]);
    for (const lon of [179.996, 180, -180, -179.996]) expect(await geoidAt(5.002, lon)).toBe(geoid);
    for (const lon of [179.994, -179.994]) expect(await geoidAt(5.002, lon)).not.toBe(geoid);
    const halves = {
      type: 'MultiPolygon',
      coordinates: [[box(179.995, 5, 0.005)], [box(-180, 5, 0.005)]],
    };
    const { body } = await service.send('PUT', '/fields', { type: 'Feature', geometry: halves });
    expect(body.fields[0]).toMatchObject({ geoid, status: 'already_registered' });
  });

  test('keeps its own GeoID among hundreds that are resolved at once', async () => {
    const rings = Array.from({ length: 60 }, (_, k) =>
      box(40 + (k % 10) / 500, 40 + Math.floor(k / 10) / 500, 0.001),
    );
    const { body } = await service.send('PUT', '/fields', collection(...rings.map(ring => feature(ring))));
    const geoids = body.fields.map((field: { geoid: string }) => field.geoid);
    expect(new Set(geoids).size).toBe(60);
    const indexes = [...rings.keys(), ...rings.keys(), ...rings.keys()];
    const found = await Promise.all(
      indexes.map(k => {
        const [lon, lat] = (rings[k] as Position[])[0] as Position;
        return geoidAt(lat + 0.0004, lon + 0.0003);
      }),
    );
    expect(found).toEqual(indexes.map(k => geoids[k]));
  });
});

describe('an observation of a polygon', () => {
  const polygon = (ring: Position[]) => ({ geojson: { type: 'Polygon', coordinates: [ring] } });

  test('on the ground of a field has its GeoID, and a larger field around it as a further one', async () => {
    const geoid = await register(box(50, 30, 0.002));
    const around = await register(box(49.999, 29.999, 0.006));
    const seen = await observe(polygon(box(50.000001, 30, 0.002)));
    expect(seen.geoid).toBe(geoid);
    const { body } = await service.send('GET', `/packets?geoid=${around}`);
    expect(body.packets).toHaveLength(1);
  });

  test('within a field has the field’s GeoID', async () => {
    const geoid = await register(box(51, 30, 0.002));
    const seen = await observe({ geojson: feature(box(51.0005, 30.0005, 0.0004)) });
    expect(seen.geoid).toBe(geoid);
  });

  test('outside all fields has the GeoID that it would be registered with, and is not registered', async () => {
    const ring = box(52, 30, 0.002);
    const { geoid } = await observe(polygon(ring));
    expect((await service.send('GET', `/fields/${geoid}`)).status).toBe(404);
    expect(await register(ring)).toBe(geoid);
  });

  test('is refused if it is invalid or too large', async () => {
    const observed_at = '2026-03-01T08:15:00Z';
    const crossing: Position[] = [
      [53, 30],
      [53.01, 30.01],
      [53.01, 30],
      [53, 30.01],
      [53, 30],
    ];
    const { status, body } = await service.send('POST', '/intake/scouting', {
      observed_at,
      ...polygon(crossing),
    });
    expect({ status, body }).toEqual({
      status: 400,
      body: { error: 'geojson.coordinates[0]: the ring crosses or touches itself near [53.005, 30.005]' },
    });
    const large = await service.send('POST', '/intake/scouting', {
      observed_at,
      ...polygon(box(53, 0, 0.019)),
    });
    expect(large).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^geojson: a field can have at most/) },
    });
  });
});

/** 190 KB of GeoJSON: a ring of 5,000 positions with fifteen digits each. */
function longBoundary(lon: number): string {
  const ring = Array.from({ length: 4999 }, (_, n) => {
    const angle = (2 * Math.PI * n) / 4999;
    return [lon + 0.001 * Math.cos(angle), -40 + 0.001 * Math.sin(angle)];
  });
  return JSON.stringify({ type: 'Polygon', coordinates: [[...ring, ring[0]]] });
}

describe('reading fields', () => {
  test('gives a field as the Feature it was', async () => {
    const ring = box(60, 30, 0.002).map(([lon, lat]) => [lon, lat, 7.25]) as unknown as Position[];
    const { geoid, area_m2 } = (await service.send('PUT', '/fields', feature(ring, 'Höhe 7'))).body.fields[0];
    const { status, headers, body } = await service.send('GET', `/fields/${geoid}`);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('application/geo+json; charset=utf-8');
    expect(body).toEqual({
      type: 'Feature',
      id: geoid,
      properties: { geoid, name: 'Höhe 7', area_m2, created_at: expect.stringMatching(/^20.*Z$/) },
      geometry: { type: 'Polygon', coordinates: [ring] },
    });
    expect((await service.send('GET', `/fields/${'0'.repeat(64)}`)).status).toBe(404);
  });

  test('returns all requested fields, however long their boundaries are', async () => {
    await service.pool.query(
      `INSERT INTO fields (geoid, boundary, area_m2, bounds, ground_cells, created_at)
       SELECT encode(sha256(n::text::bytea), 'hex'), boundary, 1, box(point(140, -40), point(141, -41)), 1, now()
       FROM unnest($1::text[]) WITH ORDINALITY AS made (boundary, n)`,
      [Array.from({ length: 90 }, (_, n) => longBoundary(140 + n / 100))],
    );
    const { text, body } = await service.send('GET', '/fields?bbox=139,-42,142,-39&limit=1000');
    expect(text.length).toBeGreaterThan(16 * 1024 * 1024);
    expect([body.features.length, body.next_cursor]).toEqual([90, undefined]);
    const ids = body.features.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(ids.toSorted());
    const first = (await service.send('GET', '/fields?bbox=139,-42,142,-39&limit=89')).body;
    expect([first.features.length, first.next_cursor]).toEqual([89, ids[88]]);
  });

  test('returns the fields that intersect a box, page by page', async () => {
    const rings = Array.from({ length: 7 }, (_, k) => box(61 + k / 100, 30, 0.001));
    const { body } = await service.send('PUT', '/fields', collection(...rings.map(ring => feature(ring))));
    const geoids = body.fields.map((field: { geoid: string }) => field.geoid).toSorted();
    const seen: string[] = [];
    let cursor = '';
    for (let page = 0; page < 4; page++) {
      const { body: list } = await service.send('GET', `/fields?bbox=61,29,62,31&limit=2&cursor=${cursor}`);
      seen.push(...list.features.map((field: { id: string }) => field.id));
      cursor = list.next_cursor ?? '';
    }
    expect(seen).toEqual(geoids);
    expect(cursor).toBe('');
    const across = await service.send('GET', '/fields?bbox=179,4,-179,6');
    expect(across.body.features).toHaveLength(1);
    const east = await service.send('GET', '/fields?bbox=-180,4,-179.999,6');
    expect(east.body.features).toHaveLength(1);
  });

  test.each(['x', '1,2,3', '1,2,3,4,5', '0,91,1,92', '0,2,1,1', '181,0,182,1', '0x10,0,20,1'])(
    'refuses the box %s',
    async bbox => {
      const { status, body } = await service.send('GET', `/fields?bbox=${bbox}`);
      expect({ status, error: body.error }).toEqual({
        status: 400,
        error: 'bbox must be west,south,east,north in degrees, with south not above north',
      });
    },
  );
});

describe('with other settings', () => {
  test('a strict registry refuses points and polygons in no field', async () => {
    const strict = await runningService({ ASSET_REGISTRY_STRICT: 'true' }, service);
    try {
      expect(await geoidAt(30.311, 76.889, strict)).toBe(README_GEOID);
      const observed_at = '2026-03-01T08:15:00Z';
      const point = { observed_at, capture_point: { lat: -50, lon: -50 } };
      expect(await strict.send('POST', '/intake/scouting', point)).toMatchObject({
        status: 400,
        body: { error: 'capture_point: GeoID resolution failed: the point is not in a registered field' },
      });
      const polygon = { observed_at, geojson: { type: 'Polygon', coordinates: [box(-50, -50, 0.001)] } };
      expect(await strict.send('POST', '/intake/scouting', polygon)).toMatchObject({
        status: 400,
        body: { error: 'geojson: GeoID resolution failed: the polygon is not in a registered field' },
      });
    } finally {
      await strict.stop();
    }
  });

  test('an external asset registry keeps the fields, and the built-in one says so', async () => {
    const remote = await runningService({ ASSET_REGISTRY_URL: 'http://127.0.0.1:9' }, service);
    try {
      for (const [method, path] of [
        ['PUT', '/fields'],
        ['GET', '/fields'],
        ['GET', `/fields/${README_GEOID}`],
      ] as const) {
        const body = method === 'PUT' ? feature(README_FIELD) : undefined;
        expect(await remote.send(method, path, body)).toMatchObject({
          status: 501,
          body: { error: 'this installation uses an asset registry; register fields there' },
        });
      }
    } finally {
      await remote.stop();
    }
  });
});

test('the log continues while fields are registered', async () => {
  const registering = await service.pool.connect();
  await registering.query('BEGIN');
  await lockRegistration(registering);
  const body = {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 3, lon: 29 },
    message: 'Berries',
  };
  const { packet_uuid } = (await service.send('POST', '/intake/scouting', body)).body;
  await eventually(async () => {
    const { packets } = (await service.send('GET', '/sync/packets?limit=1000')).body;
    return packets.some(
      ({ packet }: { packet: { Header: { id: string } } }) => packet.Header.id === packet_uuid,
    );
  });
  await registering.query('COMMIT');
  registering.release();
});
