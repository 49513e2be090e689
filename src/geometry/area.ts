/** WGS 84: the equatorial radius in metres and the first eccentricity squared. */
const SEMI_MAJOR = 6_378_137;
const FLATTENING = 1 / 298.257_223_563;
const E2 = FLATTENING * (2 - FLATTENING);
const E = Math.sqrt(E2);

const RADIANS = Math.PI / 180;

/** Nodes and weights of Gauss–Legendre quadrature of order five on [0, 1]. */
const OFFSET = Math.sqrt(3 / 5) / 2;

/**
 * The area on the WGS 84 ellipsoid that a closed ring encloses, in m²: positive when it runs counter-clockwise.
 * Edges are straight in longitude and latitude.
 *
 * An ellipsoid's zone between the equator and a latitude has an area in proportion to q (Snyder, "Map Projections:
 * A Working Manual", 1987, equation 3-12, which the authalic latitude is made from), so by Green's theorem the area
 * is a²/2 times the integral of q over longitude around the ring. A sphere of the same area would be wrong by up to
 * half a percent.
 *
 * @param ring longitude and latitude in degrees, one after another; the first position is the last again
 */
export function ringArea(ring: ArrayLike<number>): number {
  let sum = 0;
  // Taken from the first corner on: q differs little within a field, and what is left out closes to zero.
  const base = zone(ring[1] as number);
  for (let k = 0; k + 3 < ring.length; k += 2) {
    const [lon, lat, nextLon, nextLat] = [ring[k], ring[k + 1], ring[k + 2], ring[k + 3]] as number[] as [
      number,
      number,
      number,
      number,
    ];
    const middle = (lat + nextLat) / 2;
    const reach = (nextLat - lat) * OFFSET;
    const mean =
      (5 * (zone(middle - reach) - base) + 8 * (zone(middle) - base) + 5 * (zone(middle + reach) - base)) /
      18;
    sum -= (nextLon - lon) * RADIANS * mean;
  }
  return (SEMI_MAJOR * SEMI_MAJOR * sum) / 2;
}

/** Snyder's q for a latitude in degrees. */
function zone(lat: number): number {
  const sin = Math.sin(lat * RADIANS);
  return (1 - E2) * (sin / (1 - E2 * sin * sin) + Math.atanh(E * sin) / E);
}

/** The length of a line in metres, good to half a percent: edges on a sphere, flattened between their ends. */
export function lineLength(line: ArrayLike<number>): number {
  let length = 0;
  for (let k = 0; k + 3 < line.length; k += 2) {
    const [lon, lat, nextLon, nextLat] = [line[k], line[k + 1], line[k + 2], line[k + 3]] as number[] as [
      number,
      number,
      number,
      number,
    ];
    length += distance({ lon, lat }, { lon: nextLon, lat: nextLat });
  }
  return length;
}

/** Metres between two near positions in degrees, good to half a percent. */
export function distance(a: { lon: number; lat: number }, b: { lon: number; lat: number }): number {
  const north = (b.lat - a.lat) * RADIANS;
  const east = (b.lon - a.lon) * RADIANS * Math.cos(((a.lat + b.lat) / 2) * RADIANS);
  return SEMI_MAJOR * Math.hypot(north, east);
}
