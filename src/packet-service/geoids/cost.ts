import { countPositions } from '../../geometry/boundary.ts';

/** Microseconds that it takes, about, to read a position, check it and cover its edge with cells. */
const POSITION = 5;

/** Microseconds that a GeoJSON geometry takes to be read as a boundary and covered with cells, about. */
export function costOf(geometry: unknown): number {
  return countPositions(geometry) * POSITION;
}
