import { afterAll, beforeAll, expect, test } from 'vitest';
import { type RunningService, runningService } from '../../../../test/helpers/service.ts';
import { ulidToUuid } from '../packet-format/ulid.ts';
import { cornersGeoid, fieldGeoid } from './geoid.ts';

/** Which GeoIDs an observation of a polygon gets, among fields that are like it, around it and in it. */
type Position = [lon: number, lat: number];

let service: RunningService;
beforeAll(async () => {
  service = await runningService();
});
afterAll(() => service.stop());

const box = (west: number, south: number, width: number, height = width): Position[] => [
  [west, south],
  [west + width, south],
  [west + width, south + height],
  [west, south + height],
  [west, south],
];
const polygon = (ring: Position[]) => ({ type: 'Polygon', coordinates: [ring] });
const feature = (ring: Position[]) => ({ type: 'Feature', properties: {}, geometry: polygon(ring) });

/** Registers fields whose ground is new; gives their GeoIDs. */
async function register(...rings: Position[][]): Promise<string[]> {
  const body = { type: 'FeatureCollection', features: rings.map(feature) };
  const answer = await service.send('PUT', '/fields', body);
  expect(answer.status, answer.text).toBe(200);
  const { fields } = answer.body as { fields: { geoid: string; status: string }[] };
  expect(fields.map(({ status }) => status)).toEqual(fields.map(() => 'registered'));
  return fields.map(({ geoid }) => geoid);
}

const send = (geometry: object) =>
  service.send('POST', '/intake/scouting', { observed_at: '2026-03-01T08:15:00Z', geojson: geometry });

/** Stores an observation of a polygon; gives its GeoID and the additional ones. */
async function observe(geometry: object): Promise<{ geoid: string; additional: string[] }> {
  const { status, body, text } = await send(geometry);
  expect(status, text).toBe(201);
  const { rows } = await service.pool.query(
    `SELECT geoid, ARRAY(SELECT geoid FROM packet_geoids WHERE packet_id = packets.id) AS additional
     FROM packets WHERE id = $1`,
    [ulidToUuid(body.packet_uuid)],
  );
  return rows[0];
}

/** Marks a GeoID as that of a field that was deleted. */
async function take(geoid: string, boundary: object): Promise<void> {
  await service.pool.query(
    'INSERT INTO deleted_fields (geoid, boundary, deleted_at) VALUES ($1, $2, now())',
    [geoid, JSON.stringify(boundary)],
  );
}

/** The GeoIDs that a polygon can have by the interface's rules, first choice first. */
async function choices(ring: Position[]): Promise<[string, string, string]> {
  const [lons, lats] = [ring.map(([lon]) => (lon < 0 ? lon + 360 : lon)), ring.map(([, lat]) => lat)];
  const bounds = {
    south: Math.min(...lats),
    west: Math.min(...lons),
    north: Math.max(...lats),
    east: Math.max(...lons),
  };
  const corners = cornersGeoid(ring.slice(0, -1).flat());
  return [await fieldGeoid(bounds, 13), await fieldGeoid(bounds, 20), corners];
}

const LOCATIONS: [string, Position[]][] = [
  [
    'a triangle',
    [
      [20, 10],
      [20.004, 10],
      [20.002, 10.004],
      [20, 10],
    ],
  ],
  [
    'across the date line',
    [
      [179.998, 5],
      [-179.998, 5],
      [-179.998, 5.003],
      [179.998, 5.003],
      [179.998, 5],
    ],
  ],
];

test.each(LOCATIONS)(
  'without a field, the GeoID is that of the level-13 cells, the level-20 cells or the corners: %s',
  async (_what, ring) => {
    const [coarse, fine, corners] = await choices(ring);
    expect(new Set([coarse, fine, corners]).size).toBe(3);
    expect(await observe(polygon(ring))).toEqual({ geoid: coarse, additional: [] });
    await take(coarse, { another: 'boundary' });
    expect(await observe(polygon(ring))).toEqual({ geoid: fine, additional: [] });
    await take(fine, { another: 'boundary' });
    expect(await observe(polygon(ring))).toEqual({ geoid: corners, additional: [] });
    await take(corners, { another: 'boundary' });
    expect(await send(polygon(ring))).toMatchObject({
      status: 409,
      body: { error: 'no GeoID is left for this boundary: fields of other shapes use all of them' },
    });
  },
);

test('a boundary gets the same GeoID again after its field was deleted', async () => {
  const ring = box(21, 10, 0.002);
  const [coarse] = await choices(ring);
  await take(coarse, polygon(ring));
  expect((await observe(polygon(ring))).geoid).toBe(coarse);
});

test('the best match of several fields on nearly the same ground wins', async () => {
  // Neighbours agree by 94 %, what lies between two of them by 97 % with both, or more with the nearer one.
  const [west, south, width] = [22, 10, 0.01];
  const shifted = (part: number) => box(west + width * part, south, width);
  const fields = await register(shifted(0), shifted(0.035), shifted(0.07));
  for (const [index, part] of [0.01, 0.027, 0.045, 0.062].entries()) {
    const { geoid } = await observe(polygon(shifted(part)));
    expect(fields.indexOf(geoid), `${part}`).toBe([0, 1, 1, 2][index]);
  }
});

test('the field on the same ground comes before a smaller one inside it, which is additional like the surrounding ones', async () => {
  const ground = box(23, 10, 0.004);
  const [same, inside, around] = await register(
    ground,
    box(23.001, 10.001, 0.002),
    box(22.999, 9.999, 0.008),
  );
  const seen = await observe(polygon(ground));
  expect(seen.geoid).toBe(same);
  expect(seen.additional.toSorted()).toEqual([inside, around].toSorted());
});

test('without a field on its ground, a polygon gets the GeoID of the smallest field around a point inside it', async () => {
  const [large, small] = await register(box(24, 10, 0.008), box(24.001, 10.001, 0.004));
  const seen = await observe(polygon(box(24.002, 10.002, 0.001)));
  expect(seen).toEqual({ geoid: small, additional: [large] });
  const outside = await observe(polygon(box(24.006, 10.006, 0.001)));
  expect(outside).toEqual({ geoid: large, additional: [] });
});

test('it has at most 100 additional GeoIDs, those of the smaller fields', async () => {
  // Each 6 % larger than the one before, and shifted so that none is the ground of another.
  const rings = Array.from({ length: 103 }, (_, k) => {
    const side = 0.0008 * 1.03 ** k;
    const [east, north] = [k % 2 === 0 ? 0.35 : 0.65, k % 4 < 2 ? 0.35 : 0.65];
    return box(25 - side * east, 0.5 - side * north, side);
  });
  const geoids = await register(...rings);
  const smallest = polygon(box(25 - 0.00004, 0.5 - 0.00004, 0.00008));
  const { geoid, additional } = await observe(smallest);
  expect(geoid).toBe(geoids[0]);
  expect(additional.toSorted()).toEqual(geoids.slice(1, 101).toSorted());
  const point = await observe({ type: 'Point', coordinates: [25, 0.5] });
  expect(point.additional.toSorted()).toEqual(geoids.slice(1, 101).toSorted());
});
