import { parseBbox } from '../../../geometry/bbox.ts';
import type { Bounds } from '../../../geometry/covers.ts';
import type { FieldRow } from './store.ts';

/** A field as the text of a GeoJSON Feature, with the stored text of its boundary. */
export function asFeature({ geoid, name, area_m2, created_at, boundary }: Omit<FieldRow, 'author'>): string {
  const properties = JSON.stringify({ geoid, name, area_m2, created_at: created_at.toISOString() });
  return `{"type":"Feature","id":"${geoid}","properties":${properties},"geometry":${boundary}}`;
}

/**
 * Reads `bbox=`.
 *
 * @returns bounds in which east is never less than west: across the date line it exceeds 180
 * @throws Problem invalid
 */
export function readBox(text: string): Bounds {
  const { west, south, east, north } = parseBbox(text);
  return { south, west, north, east: west > east ? east + 360 : east };
}
