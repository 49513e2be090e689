/** Degrees below which a coordinate counts as zero, a billionth of an atom's size: exact decisions cost the less. */
const LEAST = 1e-30;

/** What is wrong with a position, in words that follow its path. */
export interface PositionFault {
  fault: string;
}

/**
 * Reads a GeoJSON position (RFC 7946 §3.1.1), longitude and latitude in degrees. It may have an altitude, which is not
 * used.
 */
export function readPosition(position: unknown): [lon: number, lat: number] | PositionFault {
  const isPosition = Array.isArray(position) && (position.length === 2 || position.length === 3);
  if (!isPosition || !position.every(Number.isFinite)) {
    return { fault: ' must be a position: [longitude, latitude] or [longitude, latitude, altitude]' };
  }
  const [lon, lat] = position as [number, number];
  if (Math.abs(lon) > 180) return { fault: `: the longitude ${lon} is not between -180 and 180` };
  if (Math.abs(lat) > 90) {
    return { fault: `: the latitude ${lat} is not between -90 and 90 (the longitude comes first)` };
  }
  return [Math.abs(lon) < LEAST ? 0 : lon, Math.abs(lat) < LEAST ? 0 : lat];
}
