import type { Bbox } from '../../../geometry/bbox.ts';
import type { Bounds } from '../../../geometry/covers.ts';

/** The finest zoom that tiles have. */
export const MAX_ZOOM = 22;
/** The last zoom whose tiles have clusters from the table; beyond it, tiles are made of single packets and fields. */
export const LAST_CLUSTERED = 13;
/**
 * Units along each side of the square that the world is in Web Mercator (EPSG:3857): about 1.9 cm at the equator.
 * Positions are integers below it, from the antimeridian eastwards and from the north southwards.
 */
export const SIDE = 2 ** 31;
/** Degrees of latitude at which the square ends; what is beyond counts as being on its edge. */
export const EDGE_LATITUDE = 85.0511287798066;

/** A tile: its zoom, column from the antimeridian eastwards, and row from the north southwards. */
export interface Tile {
  z: number;
  x: number;
  y: number;
}

/** A position in units of the square. */
export interface Position {
  x: number;
  y: number;
}

/** The position of a point, in units with a fraction, which may be outside the square for longitudes beyond 180. */
export function project(lat: number, lon: number): Position {
  const phi = Math.max(-EDGE_LATITUDE, Math.min(EDGE_LATITUDE, lat)) * (Math.PI / 180);
  const y = 0.5 - Math.asinh(Math.tan(phi)) / (2 * Math.PI);
  return { x: ((lon + 180) / 360) * SIDE, y: y * SIDE };
}

/** The position of the middle of a box, in whole units inside the square, and where it is in degrees. */
export function middleOf({ south, west, north, east }: Bounds): Position & { lat: number; lon: number } {
  const lat = (south + north) / 2;
  const middle = (west + east) / 2;
  const lon = middle > 180 ? middle - 360 : middle;
  const { x, y } = project(lat, lon);
  return { lat, lon, x: whole(x), y: whole(y) };
}

function whole(units: number): number {
  return Math.max(0, Math.min(SIDE - 1, Math.floor(units)));
}

/** The units of a tile along each side, and its north-western corner. */
export function squareOf({ z, x, y }: Tile): Position & { size: number } {
  const size = SIDE / 2 ** z;
  return { x: x * size, y: y * size, size };
}

/**
 * A box of degrees around all points whose position is in a tile, a little wider than the tile because its edges are
 * rounded. The outermost tiles reach to the poles.
 */
export function boxOf({ z, x, y }: Tile): Bbox {
  const last = 2 ** z - 1;
  const longitude = (column: number) => (column / 2 ** z) * 360 - 180;
  return {
    west: Math.max(-180, longitude(x) - SLACK),
    east: Math.min(180, longitude(x + 1) + SLACK),
    north: y === 0 ? 90 : latitudeOf(y / 2 ** z) + SLACK,
    south: y === last ? -90 : latitudeOf((y + 1) / 2 ** z) - SLACK,
  };
}

/** Degrees: about a decimetre, several units. */
const SLACK = 1e-6;

/** @param part of the square's side from the north */
function latitudeOf(part: number): number {
  return Math.atan(Math.sinh(Math.PI * (1 - 2 * part))) * (180 / Math.PI);
}

/**
 * Which rows of the table of counts make a tile: every two zooms share the counts of one grid, which are by tile of the
 * second of them.
 */
export function countsOf({ z, x, y }: Tile): { grid: number; columns: number[]; rows: number[] } {
  const grid = z >> 1;
  const both = (number: number) => (z % 2 === 1 ? [number] : [2 * number, 2 * number + 1]);
  return { grid, columns: both(x), rows: both(y) };
}

/** The grids of the table of counts. */
export const GRIDS = LAST_CLUSTERED >> 1;
/**
 * The level of the S2 cells of a grid: a tile of its first zoom has about 32 × 32 of them at the equator, one of its
 * second zoom 16 × 16.
 */
export const levelOf = (grid: number) => 2 * grid + 3;
/** The level of the S2 cells by which a tile beyond the clustered zooms groups what is too much to be shown singly. */
export const fineLevelOf = (zoom: number) => Math.min(20, zoom + 2);
