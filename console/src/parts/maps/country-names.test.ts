import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { namePoints, renamed } from './country-names.ts';

const square = (lon: number, lat: number, side: number) => [
  [
    [lon, lat],
    [lon + side, lat],
    [lon + side, lat + side],
    [lon, lat + side],
    [lon, lat],
  ],
];
const collection = (name: string, geometry: GeoJSON.Geometry) => ({
  type: 'FeatureCollection' as const,
  features: [{ type: 'Feature' as const, properties: { name }, geometry }],
});

test('a name is in the middle of the largest part of its country', () => {
  const islands = { type: 'MultiPolygon' as const, coordinates: [square(0, 0, 1), square(10, 20, 4)] };
  const [found] = namePoints(collection('Islands', islands)).features;
  expect(found?.properties).toEqual({ name: 'Islands', area: 16 });
  expect(found?.geometry.coordinates.map(Math.round)).toEqual([12, 22]);
  const [single] = namePoints(collection('One', { type: 'Polygon', coordinates: square(2, 2, 2) })).features;
  expect(single?.geometry.coordinates.map(Math.round)).toEqual([3, 3]);
});

test('countries have their names in the language of the console, shortened ones as well', () => {
  const french = new Intl.DisplayNames(['fr'], { type: 'region' });
  const nameOf = (code: string) => french.of(code) ?? code;
  const named = (name: string) =>
    renamed(collection(name, { type: 'Point', coordinates: [0, 0] }), nameOf).features[0]?.properties.name;
  expect([named('Germany'), named('Dem. Rep. Congo'), named('Somaliland')]).toEqual([
    'Allemagne',
    'Congo-Kinshasa',
    'Somaliland',
  ]);
});

test('nearly all countries of the map are found by their names', () => {
  const require = createRequire(new URL('../../../package.json', import.meta.url));
  const atlas = JSON.parse(readFileSync(require.resolve('world-atlas/countries-110m.json'), 'utf8'));
  const countries = atlas.objects.countries.geometries.map(({ properties }: { properties: object }) => ({
    type: 'Feature',
    properties,
    geometry: null,
  }));
  const all: GeoJSON.FeatureCollection<null> = { type: 'FeatureCollection', features: countries };
  const { features } = renamed(all, code => `known as ${code}`);
  const unknown = features
    .map(({ properties }) => properties?.name)
    .filter(name => !name.startsWith('known as'));
  expect(unknown.length / features.length).toBeLessThan(0.05);
});
