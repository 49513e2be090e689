import fc from 'fast-check';
import { expect, test } from 'vitest';
import { draftOf } from './draft.ts';
import { chosenFilters, hasText, listFilters, tileAddress } from './filters.ts';
import {
  type Corner,
  edgesOf,
  formatCorners,
  parcelOf,
  parcelsInFile,
  parseCorners,
} from './parcel-geometry.ts';
import { boxOf, formatView, isWorld, parseView, tilesOf } from './view.ts';

test('the view in an address is read as it was written, to a pixel; anything else is no view', () => {
  const view = fc.record({
    zoom: fc.double({ min: 0, max: 22, noNaN: true }),
    lat: fc.double({ min: -85, max: 85, noNaN: true }),
    lon: fc.double({ min: -180, max: 180, noNaN: true }),
  });
  fc.assert(
    fc.property(view, made => {
      const read = parseView(formatView(made));
      const pixel = 360 / (512 * 2 ** made.zoom);
      expect(Math.abs((read?.lat ?? 99) - made.lat)).toBeLessThanOrEqual(Math.max(pixel, 1e-7) * 6);
      expect(Math.abs((read?.lon ?? 999) - made.lon)).toBeLessThanOrEqual(Math.max(pixel, 1e-7) * 6);
      expect(Math.abs((read?.zoom ?? 99) - made.zoom)).toBeLessThanOrEqual(0.005001);
    }),
  );
  for (const text of [null, '', '3', '3/1', '3/1/2/4', 'a/1/2', '3//2', '23/1/2', '3/91/2', '3/1/181']) {
    expect(parseView(text), String(text)).toBeUndefined();
  }
});

test('the box of a map is one that the service takes, however far the map was moved', () => {
  expect(boxOf({ west: 29, south: -3, east: 31, north: -1 })).toBe('29,-3,31,-1');
  expect(boxOf({ west: 170, south: -5, east: 190, north: 5 })).toBe('170,-5,-170,5');
  expect(boxOf({ west: -545, south: -5, east: -530, north: 5 })).toBe('175,-5,-170,5');
  expect(boxOf({ west: -300, south: -95, east: 300, north: 95 })).toBe('-180,-90,180,90');
  expect([
    isWorld({ west: -180, south: -70, east: 180, north: 80 }),
    isWorld({ west: 0, south: 0, east: 9, north: 9 }),
  ]).toEqual([true, false]);
});

test('filters are those of the address; a text without the name of a detail is looked for in the message', () => {
  const query = new URLSearchParams('type=note&text=rust&at=3/1/2&from=&geoid=g');
  expect(chosenFilters(query)).toEqual({ type: 'note', geoid: 'g', field: 'message', text: 'rust' });
  expect(chosenFilters(new URLSearchParams('field=crop'))).toEqual({});
  query.set('field', 'crop disease');
  expect(chosenFilters(query)).toEqual({ type: 'note', geoid: 'g', field: 'crop disease', text: 'rust' });
  expect(listFilters(chosenFilters(query))).toEqual({ type: 'note', geoid: 'g' });
  expect(tileAddress('observations', chosenFilters(query))).toBe(
    'session://packet/tiles/observations/{z}/{x}/{y}.mvt?type=note&geoid=g&field=crop+disease&text=rust',
  );
  expect(tileAddress('fields', {})).toBe('session://packet/tiles/fields/{z}/{x}/{y}.mvt');
});

test('the tiles of a view are those that meet it, each once, and around the world', () => {
  const size = { width: 600, height: 400 };
  const names = (zoom: number, lat: number, lon: number) =>
    tilesOf({ zoom, lat, lon }, size).map(({ z, x, y }) => `${z}/${x}/${y}`);
  expect(names(0, 0, 0)).toEqual(['0/0/0']);
  expect(names(1, 0, 0)).toEqual(['1/0/0', '1/0/1', '1/1/0', '1/1/1']);
  expect(names(3, 0, 180)).toEqual(['3/7/3', '3/7/4', '3/0/3', '3/0/4']);
  // 256 pixels from each edge of its tile, which 600 pixels exceed and 400 do not; half a zoom on, neither.
  expect(names(10, 0.175781, 0.175781)).toEqual(['10/511/511', '10/512/511', '10/513/511']);
  expect(names(10.5, 0.175781, 0.175781)).toEqual(['10/512/511']);
  expect(names(19, 0, 0)).toEqual(
    ['18/131071', '18/131072'].flatMap(name => [`${name}/131071`, `${name}/131072`]),
  );
  expect(names(4, 90, 0)).toEqual([]);
});

test('the list decides about a text as the tiles do', () => {
  const filter = { field: 'crop', text: 'MAIZE' };
  expect(hasText({}, {})).toBe(true);
  expect(hasText(filter, { crop: 'white maize' })).toBe(true);
  expect(hasText(filter, { crop: ['maize'] })).toBe(true);
  expect(hasText({ field: 'rows', text: '17' }, { rows: 170 })).toBe(true);
  expect([hasText(filter, {}), hasText(filter, { crop: null }), hasText(filter, { crop: 'rice' })]).toEqual([
    false,
    false,
    false,
  ]);
});

test('reads corners as people write them, and reports the first line that is no corner', () => {
  expect(parseCorners('1.5, 30\n\n -2 31.25\n3;32')).toEqual([
    [30, 1.5],
    [31.25, -2],
    [32, 3],
  ]);
  expect(parseCorners('1, 2\nhere')).toEqual({ line: 2 });
  expect(parseCorners('91, 2')).toEqual({ line: 1 });
  expect(parseCorners('1, 2, 3')).toEqual({ line: 1 });
  const corner = fc.tuple(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: -90, max: 90, noNaN: true }),
  );
  fc.assert(
    fc.property(fc.array(corner), corners => {
      const read = parseCorners(formatCorners(corners as Corner[])) as Corner[];
      expect(read).toHaveLength(corners.length);
      for (const [index, [lon, lat]] of read.entries()) {
        expect(Math.abs(lon - (corners[index]?.[0] ?? 999))).toBeLessThan(1e-7);
        expect(Math.abs(lat - (corners[index]?.[1] ?? 999))).toBeLessThan(1e-7);
      }
    }),
  );
});

test('a drawn field is a closed polygon, within the world', () => {
  const corners: Corner[] = [
    [390, 1],
    [31, 1],
    [31, 2],
  ];
  expect(parcelOf(corners.slice(0, 2), 'x')).toBeUndefined();
  expect(parcelOf(corners, '')).toEqual({
    type: 'Feature',
    properties: {},
    geometry: {
      type: 'Polygon',
      coordinates: [
        [
          [30, 1],
          [31, 1],
          [31, 2],
          [30, 1],
        ],
      ],
    },
  });
  expect(parcelOf(corners, 'North')?.properties).toEqual({ name: 'North' });
  expect(draftOf(corners).features.map(({ geometry }) => geometry.type)).toEqual([
    'Polygon',
    'Point',
    'Point',
    'Point',
  ]);
  expect(draftOf(corners.slice(0, 2)).features.map(({ geometry }) => geometry.type)).toEqual([
    'LineString',
    'Point',
    'Point',
  ]);
  expect(draftOf(corners.slice(0, 1)).features).toHaveLength(1);
});

test('the polygons of any GeoJSON file are registered, with their names and nothing else', () => {
  const polygon = {
    type: 'Polygon',
    coordinates: [
      [
        [1, 2],
        [3, 2],
        [3, 4],
        [1, 2],
      ],
    ],
  };
  const named = { type: 'Feature', id: 7, properties: { name: 'North', crop: 'maize' }, geometry: polygon };
  const point = { type: 'Feature', properties: null, geometry: { type: 'Point', coordinates: [1, 2] } };
  const feature = (properties: object) => ({ type: 'Feature', properties, geometry: polygon });
  const of = (value: unknown) =>
    (parcelsInFile(JSON.stringify(value)) as { features: object[] } | undefined)?.features;
  expect(of(polygon)).toEqual([feature({})]);
  expect(of(named)).toEqual([feature({ name: 'North' })]);
  expect(of({ type: 'FeatureCollection', features: [named, point] })).toEqual([feature({ name: 'North' })]);
  expect(of({ type: 'GeometryCollection', geometries: [polygon] })).toEqual([feature({})]);
  for (const nothing of [point, {}, [], 7, null, { type: 'Feature' }]) expect(of(nothing)).toBeUndefined();
  expect(parcelsInFile('no JSON')).toBeUndefined();
  expect(edgesOf(parcelsInFile(JSON.stringify(named)))).toEqual([1, 2, 3, 4]);
  expect(edgesOf({ features: [] })).toBeUndefined();
});
