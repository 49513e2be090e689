/** A corner of a field. */
export type Corner = readonly [lon: number, lat: number];

type Shape =
  | { type: 'Point'; coordinates: number[] }
  | { type: 'LineString'; coordinates: number[][] }
  | { type: 'Polygon'; coordinates: number[][][] };

interface DraftFeature {
  type: 'Feature';
  properties: Record<string, never>;
  geometry: Shape;
}

/** GeoJSON. */
export interface Draft {
  type: 'FeatureCollection';
  features: DraftFeature[];
}

/** The shape of a field that is being drawn: its corners, and its edges if there are any. */
export function draftOf(corners: readonly Corner[]): Draft {
  const positions = corners.map(([lon, lat]) => [lon, lat]);
  const points = positions.map(position => featureOf({ type: 'Point', coordinates: position }));
  if (positions.length < 2) return { type: 'FeatureCollection', features: points };
  const [first] = positions as [number[]];
  const shape: Shape =
    positions.length === 2
      ? { type: 'LineString', coordinates: positions }
      : { type: 'Polygon', coordinates: [[...positions, first]] };
  return { type: 'FeatureCollection', features: [featureOf(shape), ...points] };
}

function featureOf(geometry: Shape): DraftFeature {
  return { type: 'Feature', properties: {}, geometry };
}
