import type { Edges } from './view.ts';

/** Degrees between two lines, to choose from. */
const STEPS = [30, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0002, 0.0001];
/** Lines from west to east of a view, about. */
const LINES = 5;

/**
 * Lines of latitude and longitude through a view, each with its degrees at the edge of it.
 *
 * @param format writes degrees
 */
export function graticuleOf(
  { west, south, east, north }: Edges,
  format: (degrees: number, digits: number) => string,
): GeoJSON.FeatureCollection {
  const wanted = (east - west) / LINES;
  const step = STEPS.find(degrees => degrees <= wanted) ?? (STEPS.at(-1) as number);
  const digits = Math.max(0, Math.ceil(-Math.log10(step)));
  const features: GeoJSON.Feature[] = [];
  const add = (kind: 'meridian' | 'parallel', degrees: number, line: GeoJSON.Position[]) => {
    const [start] = line as [GeoJSON.Position];
    const properties = { kind, text: format(degrees, digits) };
    features.push(
      { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: line } },
      { type: 'Feature', properties, geometry: { type: 'Point', coordinates: start } },
    );
  };
  for (const lon of between(west, east, step)) {
    add('meridian', turnedBack(lon), [
      [lon, north],
      [lon, south],
    ]);
  }
  for (const lat of between(south, north, step)) {
    add('parallel', lat, [
      [west, lat],
      [east, lat],
    ]);
  }
  return { type: 'FeatureCollection', features };
}

/** The multiples of a step; the edges of a map can be around the world. */
function between(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step);
  const count = Math.max(0, Math.floor(to / step) - first + 1);
  return Array.from({ length: count }, (_, index) => Number(((first + index) * step).toFixed(6)));
}

const turnedBack = (lon: number) => ((((lon + 180) % 360) + 360) % 360) - 180;
