import type { Feature, FeatureCollection, Polygon, Position } from 'geojson';

/**
 * Areas that a flat map can draw. A ring that crosses the date line goes on beyond 180° instead of jumping to the other
 * side, and is there a second time, 360° away, for the other edge of the map; a ring around a pole goes along the pole.
 */
export function flattened({ features }: FeatureCollection): FeatureCollection {
  return { type: 'FeatureCollection', features: features.map(flattenedFeature) };
}

function flattenedFeature(feature: Feature): Feature {
  const { geometry } = feature;
  if (geometry.type === 'Polygon') return withPolygons(feature, [geometry.coordinates]);
  return geometry.type === 'MultiPolygon' ? withPolygons(feature, geometry.coordinates) : feature;
}

function withPolygons(feature: Feature, polygons: Polygon['coordinates'][]): Feature {
  const coordinates = polygons.flatMap(rings => {
    const unrolled = rings.map(unroll);
    const lons = (unrolled[0] ?? []).map(([lon = 0]) => lon);
    const [west, east] = [Math.min(...lons), Math.max(...lons)];
    if (east > 180) return [unrolled, unrolled.map(ring => moved(ring, -360))];
    if (west < -180) return [unrolled, unrolled.map(ring => moved(ring, 360))];
    return [unrolled];
  });
  return { ...feature, geometry: { type: 'MultiPolygon', coordinates } };
}

/** A ring whose longitudes do not jump. */
function unroll(ring: Position[]): Position[] {
  let turns = 0;
  const unrolled = ring.map(([lon = 0, lat = 0], index) => {
    const step = lon - (ring[index - 1]?.[0] ?? lon);
    if (Math.abs(step) > 180) turns -= 360 * Math.sign(step);
    return [lon + turns, lat];
  });
  const [first, last] = [unrolled[0], unrolled.at(-1)];
  if (turns === 0 || first === undefined || last === undefined) return unrolled;
  // Once around a pole: the nearer one.
  const pole = 90 * Math.sign(first[1] as number);
  return [...unrolled, [last[0] as number, pole], [first[0] as number, pole], first];
}

function moved(ring: Position[], degrees: number): Position[] {
  return ring.map(([lon = 0, lat = 0]) => [lon + degrees, lat]);
}
