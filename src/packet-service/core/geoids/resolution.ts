import { Problem } from '../../../platform/http/problems.ts';

/** Degrees, WGS 84. */
export interface Point {
  lat: number;
  lon: number;
}

export interface Resolution {
  geoid: string;
  /** The additional GeoIDs: those of larger fields that contain the location, smallest first. */
  additionalGeoids: string[];
  /** what it depends on; undefined if it holds whatever has changed since */
  asOf?: AsOf | undefined;
}

/** The state of the registered fields that a resolution was read from memory for. */
export interface AsOf {
  /** field_state.state */
  state: string;
  /** Says that the fields are in another state by now. */
  outdated(): void;
}

/** Resolves locations to GeoIDs. */
export interface GeoidResolver {
  /**
   * The GeoID of a point.
   *
   * @param path the point's path in the request, for error messages
   * @param options mayBeOutdated: whether the result may have `asOf`, which the caller then checks in the transaction
   *   that depends on it
   * @throws Problem invalid, when the point resolves to none; with retryAfter when the registry cannot tell
   */
  resolve(point: Point, path?: string, options?: { mayBeOutdated: boolean }): Promise<Resolution>;
  /**
   * The GeoID of a GeoJSON Polygon or MultiPolygon.
   *
   * @throws Problem invalid, as for a point, or because the polygon is none
   */
  resolvePolygon(geometry: unknown, path?: string): Promise<Resolution>;
}

/** Maximum additional GeoIDs of one location; those of the largest fields are left out. */
export const MAX_ADDITIONAL_GEOIDS = 100;

/** @throws Problem invalid when the point is not on the globe */
export function checkPoint({ lat, lon }: Point, path: string): void {
  if (Math.abs(lat) <= 90 && Math.abs(lon) <= 180) return;
  throw new Problem('geoid.point_off_globe', { field: path });
}

/**
 * The error if the registry cannot be reached or understood. Still 400, as the interface requires for every failed
 * resolution, but with retryAfter and a message that differs from that for a bad location.
 */
export function undecided(path: string, cause: Problem): Problem {
  const retryAfter = cause.retryAfter ?? 60;
  return new Problem('geoid.registry_away', { field: path, trouble: cause.message }, { retryAfter, cause });
}
