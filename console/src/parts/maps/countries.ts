import type { Feature, Position } from 'geojson';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import atlas from 'world-atlas/countries-110m.json' with { type: 'json' };
import { codesByName, namePoints, renamed } from './country-names.ts';
import { flattened } from './date-line.ts';

const topology = atlas as unknown as Topology<{ countries: GeometryCollection }>;
const { features } = flattened(feature(topology, topology.objects.countries));

/** How far from a border, in degrees, this coarse map knows the country of a place. */
const SURE = 0.15;

/** The countries as one path of SVG, in degrees, with y to the south. */
export function countriesPath(): string {
  return features
    .flatMap(ringsOf)
    .map(ring => `M${ring.map(([lon = 0, lat = 0]) => `${round(lon)},${round(-lat)}`).join('L')}Z`)
    .join('');
}

/** A name on the map: its middle in degrees, with y to the south, and the degrees from west to east that it may take. */
export interface CountryName {
  name: string;
  x: number;
  y: number;
  width: number;
}

/** @param nameOf the name of an alpha-2 code */
export function countryNames(nameOf: (code: string, other: string) => string): CountryName[] {
  return features.flatMap(feature => {
    const collection = renamed({ type: 'FeatureCollection', features: [feature] }, nameOf);
    const [point] = namePoints(collection).features;
    const [x = 0, lat = 0] = point?.geometry.coordinates ?? [];
    const around = ringsOf(feature).find(ring => isIn([ring], x, lat));
    if (!point || !around) return [];
    const lons = around.map(([lon = 0]) => lon);
    return [
      { name: String(point.properties?.name), x, y: -lat, width: Math.max(...lons) - Math.min(...lons) },
    ];
  });
}

/** The English name of the country at a position; undefined at sea. */
export function countryAt(lon: number, lat: number): string | undefined {
  const found = features.find(feature => isIn(ringsOf(feature), lon, lat));
  return found && String(found.properties?.name);
}

/** The alpha-2 code of the country at a position, if it is not near a border and the country has a code. */
export function surelyIn(lon: number, lat: number): string | undefined {
  const name = countryAt(lon, lat);
  const around = [-SURE, SURE].flatMap(by => [countryAt(lon + by, lat), countryAt(lon, lat + by)]);
  return name !== undefined && around.every(other => other === name) ? codesByName().get(name) : undefined;
}

/** Whether a line to the east crosses the rings an odd number of times. */
function isIn(rings: readonly (readonly Position[])[], lon: number, lat: number): boolean {
  let isInside = false;
  for (const ring of rings) {
    for (const [index, [x = 0, y = 0]] of ring.entries()) {
      const [lastX = 0, lastY = 0] = ring.at(index - 1) ?? [];
      if (y > lat !== lastY > lat && lon < x + ((lat - y) / (lastY - y)) * (lastX - x)) isInside = !isInside;
    }
  }
  return isInside;
}

function ringsOf({ geometry }: Feature): Position[][] {
  if (geometry.type === 'Polygon') return geometry.coordinates;
  return geometry.type === 'MultiPolygon' ? geometry.coordinates.flat() : [];
}

const round = (degrees: number) => Math.round(degrees * 100) / 100;
