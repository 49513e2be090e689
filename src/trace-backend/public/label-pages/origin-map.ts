import { readFileSync } from 'node:fs';
import { escaped } from '../../../platform/http/page.ts';

/** A place on a map, in degrees. */
export interface Pin {
  latitude: number;
  longitude: number;
  name: string;
}

/** Units of the picture. */
const WIDTH = 600;
const HEIGHT = 400;
/** Degrees from north to south of a map of one place. */
const NEAR = 20;
/** Units that neighbouring points of an outline are apart, at least. */
const APART = 3;
/** How much more than the pins a map shows. */
const ROOM = 1.4;

/** Longitudes and latitudes of the outlines of countries, in hundredths of degrees; npm run outlines writes the file. */
const RINGS = readFileSync(new URL('./outlines.txt', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map(line => line.split(' ').map(Number));

/**
 * A picture of the countries around places, with a pin for each. It is part of the page: it loads nothing, and has no style
 * of its own.
 *
 * @param label what it shows, for people who do not see it
 * @returns SVG
 */
export function originMap(pins: readonly Pin[], label: string): string {
  const place = projection(pins);
  const circles = pins.map(pin => {
    const [x, y] = place(pin.longitude, pin.latitude);
    return `<circle cx="${x}" cy="${y}" r="7"><title>${escaped(pin.name)}</title></circle>`;
  });
  return (
    `<svg class="map" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escaped(label)}">` +
    `<path d="${RINGS.map(ring => outlineOf(ring, place)).join('')}"/>${circles.join('')}</svg>`
  );
}

/** From degrees to units of the picture. */
type Place = (longitude: number, latitude: number) => [x: number, y: number];

/** All pins and some room around them; degrees of longitude are as wide as they are in the middle of the pins. */
function projection(pins: readonly Pin[]): Place {
  const [west, east] = extremes(pins.map(({ longitude }) => longitude));
  const [south, north] = extremes(pins.map(({ latitude }) => latitude));
  const [longitude, latitude] = [(west + east) / 2, (south + north) / 2];
  const narrowing = Math.cos((latitude * Math.PI) / 180);
  const tall = Math.max(NEAR, ROOM * (north - south), (ROOM * (east - west) * narrowing * HEIGHT) / WIDTH);
  const scale = HEIGHT / tall;
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

/** A ring as a part of a path; nothing if none of it is in the picture. */
function outlineOf(ring: readonly number[], place: Place): string {
  const points: [number, number][] = [];
  for (let at = 0; at < ring.length; at += 2) {
    const [x, y] = place((ring[at] as number) / 100, (ring[at + 1] as number) / 100);
    const [lastX, lastY] = points.at(-1) ?? [Infinity, Infinity];
    if (Math.max(Math.abs(x - lastX), Math.abs(y - lastY)) >= APART) points.push([x, y]);
  }
  const [left, right] = extremes(points.map(([x]) => x));
  const [top, bottom] = extremes(points.map(([, y]) => y));
  const isSeen = left < WIDTH && right > 0 && top < HEIGHT && bottom > 0;
  return isSeen && points.length > 2 ? `M${points.map(([x, y]) => `${x} ${y}`).join(' ')}Z` : '';
}
