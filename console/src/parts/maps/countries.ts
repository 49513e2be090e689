import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import atlas from 'world-atlas/countries-110m.json';
import { flattened } from './date-line.ts';

const topology = atlas as unknown as Topology<{ countries: GeometryCollection }>;

/** The countries as one path of SVG, in degrees, with y to the south. */
export function countriesPath(): string {
  const { features } = flattened(feature(topology, topology.objects.countries));
  return features
    .flatMap(({ geometry }) =>
      geometry.type === 'Polygon'
        ? geometry.coordinates
        : geometry.type === 'MultiPolygon'
          ? geometry.coordinates.flat()
          : [],
    )
    .map(ring => `M${ring.map(([lon = 0, lat = 0]) => `${round(lon)},${round(-lat)}`).join('L')}Z`)
    .join('');
}

const round = (degrees: number) => Math.round(degrees * 100) / 100;
