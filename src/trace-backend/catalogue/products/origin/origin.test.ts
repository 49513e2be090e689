import { afterAll, beforeAll, expect, test } from 'vitest';
import { added, companyOf, type Tenant, tenant } from '../../../../../test/helpers/chain.ts';
import { type RunningTrace, runningTrace } from '../../../../../test/helpers/trace.ts';

let trace: RunningTrace;
let kopanyi: Tenant;
beforeAll(async () => {
  trace = await runningTrace();
  kopanyi = await tenant(trace, 'Kopanyi');
});
afterAll(() => trace.stop());

const file = async (id: number) => kopanyi.user.send('GET', `/api/product/${id}/origin.geojson`);
const wrong = (fields: object) => ({
  status: 'VALIDATION_ERROR',
  errorMessage: expect.any(String),
  validationErrorDetails: { fieldErrors: fields, fieldReasons: expect.any(Object) },
});
/** A square field with sides of a thousandth of a degree, which is 1.23 ha there. */
const field = (east = 29.141, north = -2.319) => [
  [
    [29.14, -2.32],
    [east, -2.32],
    [east, north],
    [29.14, north],
    [29.14, -2.32],
  ],
];

test('the origin is a geolocation file: a feature for each location, in six decimals, with its properties', async () => {
  const growers = await companyOf(trace, 'Growers of "Kibogora"', []);
  const geoid = 'a1'.repeat(32);
  const id = await added(kopanyi.user, {
    name: 'Tea',
    associatedCompanies: { company: { id: growers }, type: 'PRODUCER' },
    origin: {
      locations: [
        { latitude: -2.3264, longitude: 29.1421, pinName: 'Station', areaInHectares: 4, countryCode: 'RW' },
        { geometry: { type: 'Polygon', coordinates: field() }, address: 'Kibogora', geoid },
        { geometry: { type: 'Point', coordinates: [29.1, -2.3, 1650] }, latitude: 1, longitude: 1 },
      ],
    },
  });
  const answer = await file(id);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(/^application\/geo\+json\b/);
  expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="origin-${id}.geojson"`);
  expect(answer.text).toContain('"coordinates":[29.142100,-2.326400]');
  const ProducerName = 'Growers of "Kibogora"';
  expect(answer.body).toEqual({
    type: 'FeatureCollection',
    features: [
      {
        type: 'Feature',
        properties: { ProducerName, ProducerCountry: 'RW', ProductionPlace: 'Station', Area: 4 },
        geometry: { type: 'Point', coordinates: [29.1421, -2.3264] },
      },
      {
        type: 'Feature',
        properties: {
          ProducerName,
          ProductionPlace: 'Kibogora',
          GeoID: geoid,
          Area: expect.closeTo(1.23, 2),
        },
        geometry: { type: 'Polygon', coordinates: field() },
      },
      {
        type: 'Feature',
        properties: { ProducerName },
        geometry: { type: 'Point', coordinates: [29.1, -2.3] },
      },
    ],
  });
});

test('faults that the regulation would refuse are listed by feature', async () => {
  const id = await added(kopanyi.user, {
    name: 'Tea',
    origin: {
      locations: [
        { latitude: 1, longitude: 2, areaInHectares: 4.0001 },
        { geometry: { type: 'Polygon', coordinates: field(29.15, -2.31) } },
        { latitude: 1, pinName: 'Half a place' },
      ],
    },
  });
  const answer = await file(id);
  expect([answer.status, answer.body]).toEqual([
    400,
    wrong({
      'features.0.geometry': expect.stringMatching(/more than 4 ha has to be a polygon/),
      'features.2.geometry': expect.stringMatching(/neither a geometry nor a latitude and longitude/),
    }),
  ]);
  const none = await added(kopanyi.user, { name: 'Tea' });
  expect((await file(none)).body).toEqual({ type: 'FeatureCollection', features: [] });
});

test('an invalid plot is refused with its path', async () => {
  const bowtie = [
    [29, -1],
    [29.01, -1.01],
    [29.01, -1],
    [29, -1.01],
    [29, -1],
  ];
  const locations = [
    { geometry: { type: 'Polygon', coordinates: field() } },
    { geometry: { type: 'Polygon', coordinates: [bowtie] } },
    { geometry: { type: 'Point', coordinates: [1, 200] } },
  ];
  const fields = {
    'origin.locations.1.geometry.coordinates.0': expect.stringMatching(/crosses or touches itself/),
    'origin.locations.2.geometry.coordinates': expect.stringMatching(/latitude/),
  };
  const created = await kopanyi.user.send('POST', '/api/product/create', {
    name: 'Tea',
    origin: { locations },
  });
  expect([created.status, created.body]).toEqual([400, wrong(fields)]);
  const id = await added(kopanyi.user, { name: 'Tea' });
  const updated = await kopanyi.user.send('PUT', '/api/product', { id, origin: { locations } });
  expect(updated.body).toEqual(wrong(fields));
});

test('a product has up to 15,000 positions in all plots, including those of faulty plots', async () => {
  const ring = Array.from({ length: 1499 }, (_, k) => [
    29 + Math.cos((k / 1499) * 2 * Math.PI) / 10,
    Math.sin((k / 1499) * 2 * Math.PI) / 10,
  ]);
  const coordinates = [[...ring, ring[0]].map(position => position?.map(value => Number(value.toFixed(5))))];
  const faulty = [[...coordinates, [[0, 0]]]];
  const send = (count: number, last: unknown[]) =>
    kopanyi.user.send('POST', '/api/product/create', {
      name: 'Tea',
      origin: {
        locations: [...Array(count - 1).fill(coordinates), last].map(position => ({
          geometry: { type: 'Polygon', coordinates: position },
        })),
      },
    });
  expect((await send(10, coordinates)).status).toBe(200);
  for (const last of [coordinates, faulty]) {
    expect((await send(11, last)).body).toEqual(
      wrong({ 'origin.locations': expect.stringMatching(/more than 15000 positions/) }),
    );
  }
});
