import { TILE_SIDE } from './mercator.ts';

/** The part of the world that a map shows. */
export interface View {
  zoom: number;
  lat: number;
  lon: number;
}

/** The last zoom of tiles that maps ask for; beyond it they are drawn larger. */
export const LAST_TILE_ZOOM = 18;
/** The zoom for observations close together: the way from one to the next is visible. */
export const CLOSE_ZOOM = 15;
/** Zoom for a single observation, which nearly always shows water, a border or a place name. */
export const SINGLE_ZOOM = 11;
/** The zoom for pins: towns and borders around them have names. */
export const PIN_ZOOM = 6;

/** The world, for maps that nobody has moved yet. */
export const WORLD: View = { zoom: 1.2, lat: 15, lon: 10 };

/** Reads `at=zoom/lat/lon`; undefined for anything else. */
export function parseView(text: string | null): View | undefined {
  const [zoom, lat, lon, ...rest] = (text ?? '')
    .split('/')
    .map(part => (part.trim() === '' ? Number.NaN : Number(part)));
  if (zoom === undefined || lat === undefined || lon === undefined || rest.length > 0) return undefined;
  const isView = zoom >= 0 && zoom <= 22 && Math.abs(lat) <= 90 && Math.abs(lon) <= 180;
  return isView ? { zoom, lat, lon } : undefined;
}

/** The text of a view: as exact as a pixel. */
export function formatView({ zoom, lat, lon }: View): string {
  const digits = Math.max(2, Math.ceil(zoom / 3) + 1);
  return [zoom.toFixed(2), lat.toFixed(digits), lon.toFixed(digits)]
    .map(part => String(Number(part)))
    .join('/');
}

/** Degrees of the edges of a map. */
export interface Edges {
  west: number;
  south: number;
  east: number;
  north: number;
}

/** Where a map opens: at a view, around places, or, undefined, where the observations are. */
export type Opened = View | { around: Edges } | undefined;

/** A box for `bbox=`: a map can be turned around the world more than once, and reach beyond the poles. */
export function boxOf({ west, south, east, north }: Edges): string {
  const latitudes = [south, north].map(value => Math.max(-90, Math.min(90, value)));
  const [from, to] = east - west >= 360 ? [-180, 180] : [turned(west), turned(east)];
  return [from, latitudes[0], to, latitudes[1]].map(value => Number((value as number).toFixed(6))).join(',');
}

/** A longitude within −180 to 180. */
export function turned(longitude: number): number {
  return longitude >= -180 && longitude <= 180 ? longitude : ((((longitude + 180) % 360) + 360) % 360) - 180;
}

/** Whether a map shows about everything. */
export function isWorld({ west, south, east, north }: Edges): boolean {
  return east - west >= 350 && north - south >= 100;
}

/**
 * The tiles in which a view is, each once.
 *
 * @param size of the map in pixels
 */
export function tilesOf(
  { zoom, lat, lon }: View,
  { width, height }: { width: number; height: number },
): { z: number; x: number; y: number }[] {
  const z = Math.min(LAST_TILE_ZOOM, Math.floor(zoom));
  const count = 2 ** z;
  const side = TILE_SIDE * 2 ** (zoom - z);
  const middle = {
    x: ((lon + 180) / 360) * count,
    y: (0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI)) * count,
  };
  const columns = between(middle.x, width / side).slice(0, count);
  const rows = between(middle.y, height / side).filter(y => y >= 0 && y < count);
  return columns.flatMap(x => rows.map(y => ({ z, x: ((x % count) + count) % count, y })));
}

/** The whole numbers around a middle. */
function between(middle: number, length: number): number[] {
  const first = Math.floor(middle - length / 2);
  return Array.from({ length: Math.floor(middle + length / 2) - first + 1 }, (_, n) => first + n);
}
