import { createRequire } from 'node:module';
import path from 'node:path';
import type { FeatureCollection, MultiPolygon } from 'geojson';
import { flattened } from '../console/src/parts/maps/date-line.ts';

const fromConsole = createRequire(path.resolve(import.meta.dirname, '../console/package.json'));

/** The outlines of all countries for the services: a line for each ring, of longitudes and latitudes in hundredths of degrees. */
export function outlines(): string {
  const { feature } = fromConsole('topojson-client');
  const atlas = fromConsole('world-atlas/countries-110m.json');
  const countries: FeatureCollection = feature(atlas, atlas.objects.countries);
  const rings = flattened(countries).features.flatMap(({ geometry }) =>
    (geometry as MultiPolygon).coordinates.flat(),
  );
  const hundredths = (degrees: number) => Math.round(degrees * 100);
  return rings.map(ring => `${ring.flat().map(hundredths).join(' ')}\n`).join('');
}
