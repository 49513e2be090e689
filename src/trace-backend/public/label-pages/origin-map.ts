import { readFileSync } from 'node:fs';
import { escaped } from '../../../platform/http/page.ts';

/** A location on a map, in degrees. */
export interface Pin {
  latitude: number;
  longitude: number;
  name: string;
}

/** Size of the picture, in units. */
const WIDTH = 600;
const HEIGHT = 400;
/** Minimum degrees from north to south, for a map of one location. */
const MIN_DEGREES = 20;
/** Minimum distance of neighbouring points of an outline, in units. */
const MIN_DISTANCE = 3;
/** Size of a map relative to the extent of its pins. */
const MARGIN_FACTOR = 1.4;

/** Longitudes and latitudes of the outlines of countries, in hundredths of degrees; npm run outlines writes the file. */
const RINGS = readFileSync(new URL('./outlines.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => line.split(' ').map(Number));

/**
 * A picture of the countries around locations, with a pin for each. It is part of the page: it loads nothing, and has no
 * style of its own.
 *
 * @param label description for screen readers
 * @returns SVG
 */
export function originMap(pins: readonly Pin[], label: string): string {
  const project = projection(pins);
  const circles = pins.map(pin => {
    const [x, y] = project(pin.longitude, pin.latitude);
    return `<circle cx="${x}" cy="${y}" r="7"><title>${escaped(pin.name)}</title></circle>`;
  });
  return (
    `<svg class="map" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(label)}">` +
    `<path d="${RINGS.map(ring => outlineOf(ring, project)).join('')}"/>${circles.join('')}</svg>`
  );
}

/** Converts degrees to units of the picture. */
type Projection = (longitude: number, latitude: number) => [x: number, y: number];

/** Shows all pins with a margin. The width of a degree of longitude is that in the middle of the pins. */
function projection(pins: readonly Pin[]): Projection {
  const [west, east] = extremes(pins.map(({ longitude }) => longitude));
  const [south, north] = extremes(pins.map(({ latitude }) => latitude));
  const [longitude, latitude] = [(west + east) / 2, (south + north) / 2];
  const narrowing = Math.cos((latitude * Math.PI) / 180);
  const height = Math.max(
    MIN_DEGREES,
    MARGIN_FACTOR * (north - south),
    (MARGIN_FACTOR * (east - west) * narrowing * HEIGHT) / WIDTH,
  );
  const scale = HEIGHT / height;
  return (lon, lat) => [
    Math.round(WIDTH / 2 + (lon - longitude) * narrowing * scale),
    Math.round(HEIGHT / 2 - (lat - latitude) * scale),
  ];
}

function extremes(values: readonly number[]): [least: number, most: number] {
  return values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [
    Infinity,
    -Infinity,
  ] as [number, number]);
}

/** A ring as part of a path; empty if it is outside the picture. */
function outlineOf(ring: readonly number[], project: Projection): string {
  const points: [number, number][] = [];
  for (let at = 0; at < ring.length; at += 2) {
    const [x, y] = project((ring[at] as number) / 100, (ring[at + 1] as number) / 100);
    const [lastX, lastY] = points.at(-1) ?? [Infinity, Infinity];
    if (Math.max(Math.abs(x - lastX), Math.abs(y - lastY)) >= MIN_DISTANCE) points.push([x, y]);
  }
  const [left, right] = extremes(points.map(([x]) => x));
  const [top, bottom] = extremes(points.map(([, y]) => y));
  const isVisible = left < WIDTH && right > 0 && top < HEIGHT && bottom > 0;
  return isVisible && points.length > 2 ? `M${points.map(([x, y]) => `${x} ${y}`).join(' ')}Z` : '';
}
