import type { Corner } from '../../parts/maps/draft.ts';
import { turned } from '../../parts/maps/view.ts';

/** The body of PUT /fields. */
export interface ParcelFeature {
  type: 'Feature';
  properties: { name?: string };
  geometry: { type: 'Polygon'; coordinates: Corner[][] };
}

/** The feature of a drawn field; undefined while it has fewer than three corners. */
export function parcelOf(corners: readonly Corner[], name: string): ParcelFeature | undefined {
  if (corners.length < 3) return undefined;
  const ring = corners.map(([lon, lat]) => [rounded(turned(lon)), rounded(lat)] as const);
  return {
    type: 'Feature',
    properties: name === '' ? {} : { name },
    geometry: { type: 'Polygon', coordinates: [[...ring, ring[0] as Corner]] },
  };
}

/** A centimetre: more digits would only pretend to be exact. */
function rounded(degrees: number): number {
  return Number(degrees.toFixed(7));
}

/** The answer of PUT /fields about a field. */
export interface RegisteredParcel {
  geoid: string;
  name?: string;
  area_m2: number;
}

/** The reasons why corners in a text are unreadable. */
export type CornersError = { line: number };

/**
 * Reads corners as people write them: a line each, latitude and longitude in degrees, separated by a comma or spaces.
 *
 * @returns the corners, or the number of the first line that is none
 */
export function parseCorners(text: string): Corner[] | CornersError {
  const corners: Corner[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const [lat, lon, ...rest] = line
      .trim()
      .split(/[\s,;]+/)
      .map(Number);
    const isCorner = lat !== undefined && lon !== undefined && Math.abs(lat) <= 90 && Math.abs(lon) <= 180;
    if (!isCorner || rest.length > 0) return { line: index + 1 };
    corners.push([lon, lat]);
  }
  return corners;
}

export function formatCorners(corners: readonly Corner[]): string {
  return corners.map(([lon, lat]) => `${rounded(lat)}, ${rounded(turned(lon))}`).join('\n');
}

/**
 * The features of a GeoJSON file for PUT /fields: a bare geometry, a list of them, and further types are brought into the
 * form that it takes. Undefined if there is no polygon.
 */
export function parcelsInFile(text: string): object | undefined {
  const parsed = parseJson(text);
  const features = featuresOf(parsed).filter(({ geometry }) =>
    /^(Multi)?Polygon$/.test(geometry?.type ?? ''),
  );
  return features.length === 0 ? undefined : { type: 'FeatureCollection', features };
}

interface AnyFeature {
  type: 'Feature';
  properties: unknown;
  geometry: { type?: string } | null;
}

function featuresOf(value: unknown): AnyFeature[] {
  if (typeof value !== 'object' || value === null) return [];
  const { type, features, geometries } = value as {
    type?: unknown;
    features?: unknown;
    geometries?: unknown;
  };
  if (type === 'FeatureCollection' && Array.isArray(features)) return features.flatMap(featuresOf);
  if (type === 'GeometryCollection' && Array.isArray(geometries)) return geometries.flatMap(featuresOf);
  if (type === 'Feature') {
    const { properties, geometry } = value as AnyFeature;
    const { name } = (properties ?? {}) as { name?: unknown };
    return [{ type: 'Feature', properties: typeof name === 'string' ? { name } : {}, geometry }];
  }
  return [{ type: 'Feature', properties: {}, geometry: value as { type?: string } }];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The edges of the positions of a field, for showing it; undefined without any position. */
export function edgesOf(
  collection: unknown,
): [west: number, south: number, east: number, north: number] | undefined {
  let edges: [number, number, number, number] | undefined;
  const visit = (value: unknown): void => {
    if (!Array.isArray(value)) return;
    const [lon, lat] = value as unknown[];
    if (typeof lon !== 'number' || typeof lat !== 'number') {
      value.forEach(visit);
      return;
    }
    const [west, south, east, north] = edges ?? [lon, lat, lon, lat];
    edges = [Math.min(west, lon), Math.min(south, lat), Math.max(east, lon), Math.max(north, lat)];
  };
  const { features = [] } = collection as { features?: { geometry?: { coordinates?: unknown } }[] };
  for (const { geometry } of features) visit(geometry?.coordinates);
  return edges;
}
