import { Problem } from '../platform/http/problems.ts';

/** A box between two parallels and two meridians, in degrees; west beyond east is a box across the date line. */
export interface Bbox {
  west: number;
  south: number;
  east: number;
  north: number;
}

/**
 * Reads `west,south,east,north` in degrees, the order of GeoJSON (RFC 7946 §5).
 *
 * @throws Problem invalid that names bbox
 */
export function parseBbox(text: string): Bbox {
  const numbers = parseNumbers(text, 4) ?? [];
  const [west, south, east, north] = numbers as [number, number, number, number];
  const good = numbers.length === 4 && isLongitude(west) && isLongitude(east) && isLatitude(south);
  if (!good || !isLatitude(north) || south > north) {
    throw new Problem('bbox.malformed', { field: 'bbox' });
  }
  return { west, south, east, north };
}

/** Decimal numbers between commas; undefined if their number is wrong. */
export function parseNumbers(text: string, count: number): number[] | undefined {
  const parts = text.split(',');
  const isNumber = (part: string) => /^\s*[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?\s*$/i.test(part);
  return parts.length === count && parts.every(isNumber) ? parts.map(Number) : undefined;
}

export function isLatitude(degrees: number): boolean {
  return degrees >= -90 && degrees <= 90;
}

export function isLongitude(degrees: number): boolean {
  return degrees >= -180 && degrees <= 180;
}
