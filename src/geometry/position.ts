import { type Fault, fault } from '../platform/http/reasons/catalogue.ts';

/** Degrees below which a coordinate counts as zero, a billionth of an atom's size: exact decisions cost the less. */
const LEAST = 1e-30;

/**
 * Reads a GeoJSON position (RFC 7946 §3.1.1), longitude and latitude in degrees. It may have an altitude, which is not
 * used.
 *
 * @param path of the position, for the fault
 * @returns what is wrong with it if it is none
 */
export function readPosition(position: unknown, path: string): [lon: number, lat: number] | { fault: Fault } {
  const isPosition = Array.isArray(position) && (position.length === 2 || position.length === 3);
  if (!isPosition || !position.every(Number.isFinite)) {
    return { fault: fault('position.malformed', { field: path }) };
  }
  const [lon, lat] = position as [number, number];
  if (Math.abs(lon) > 180) {
    return { fault: fault('position.longitude_out_of_range', { field: path, longitude: lon }) };
  }
  if (Math.abs(lat) > 90) {
    return { fault: fault('position.latitude_out_of_range', { field: path, latitude: lat }) };
  }
  return [Math.abs(lon) < LEAST ? 0 : lon, Math.abs(lat) < LEAST ? 0 : lat];
}
