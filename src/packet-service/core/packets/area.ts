import { S1Angle, S2Cap, S2LatLng, S2LatLngRect, type S2Region, S2RegionCoverer } from 'nodes2ts';
import { type Bbox, isLatitude, isLongitude, parseBbox, parseNumbers } from '../../../geometry/bbox.ts';
import { Problem } from '../../../platform/http/problems.ts';

/** Areas in which capture points are searched. */
export type Box = Bbox & { kind: 'box'; cells: CellRange[] };
export type Circle = { kind: 'circle'; lat: number; lon: number; metres: number; cells: CellRange[] };
export type Area = Box | Circle;

/** Consecutive level-20 S2 cells, by number (geoids/cells.ts), both inclusive. */
export interface CellRange {
  first: number;
  last: number;
}

/** Mean radius of the Earth in metres (IUGG R1). */
export const EARTH_RADIUS = 6_371_008.8;
/** Half the way around the Earth, rounded up: no two points are farther apart. */
const MAX_METRES = 20_100_000;
/** More cells approximate an area better and cost one index range each. */
const MAX_CELLS = 12;
/** A level-20 number is the 64-bit id without its lowest 21 bits. */
const BELOW_LEVEL_20 = 21n;

/**
 * Reads `bbox=west,south,east,north` in degrees, the order of GeoJSON (RFC 7946 §5). West greater than east
 * means a box across the date line.
 *
 * @throws Problem invalid that names bbox
 */
export function parseBox(text: string): Box {
  return boxWithin(parseBbox(text));
}

/** A box with its cells. */
export function boxWithin({ west, south, east, north }: Bbox): Box {
  // To S2 a box whose east is -180 ends where it begins, or is empty (s1interval.h): it ends at the same meridian, 180.
  const [from, to] = east === -180 ? [west === -180 ? 180 : west, 180] : [west, east];
  const region = S2LatLngRect.fromLatLng(S2LatLng.fromDegrees(south, from), S2LatLng.fromDegrees(north, to));
  return { kind: 'box', south, west, north, east, cells: cover(region) };
}

/**
 * Reads `near=lat,lon,metres`: everything within that distance of the point, along the surface of a sphere.
 *
 * @throws Problem invalid that names near
 */
export function parseCircle(text: string): Circle {
  const numbers = parseNumbers(text, 3);
  if (!numbers) throw new Problem('packet.near_malformed', { field: 'near' });
  const [lat, lon, metres] = numbers as [number, number, number];
  if (!isLatitude(lat) || !isLongitude(lon) || !(metres >= 0 && metres <= MAX_METRES)) {
    throw new Problem('packet.near_out_of_range', { field: 'near', max: MAX_METRES });
  }
  // One extra millimetre, so that rounding never omits a cell with a point on the rim.
  const angle = S1Angle.radians(Math.min((metres + 0.001) / EARTH_RADIUS, Math.PI));
  const region = S2Cap.fromAxisAngle(S2LatLng.fromDegrees(lat, lon).toPoint(), angle);
  return { kind: 'circle', lat, lon, metres, cells: cover(region) };
}

function cover(region: S2Region): CellRange[] {
  const coverer = new S2RegionCoverer().setMaxLevel(20).setMaxCells(MAX_CELLS);
  return coverer.getCoveringCells(region).map(cell => ({
    first: Number(cell.rangeMin().id >> BELOW_LEVEL_20),
    last: Number(cell.rangeMax().id >> BELOW_LEVEL_20),
  }));
}
