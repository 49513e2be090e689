import { countPositions } from '../../../geometry/boundary.ts';

/** Approximate microseconds to read a position, check it and cover its edge with cells. */
const POSITION = 5;

/** Approximate microseconds to read a GeoJSON geometry as a boundary and cover it with cells. */
export function costOf(geometry: unknown): number {
  return countPositions(geometry) * POSITION;
}
