import type { MultiPolygon, Polygon, Position } from 'geojson';

/** The middle of the widest piece of a boundary's first part, at the latitude in the middle of that part. */
export function pointIn({ type, coordinates }: Polygon | MultiPolygon): [lon: number, lat: number] {
  const rings = (type === 'Polygon' ? coordinates : coordinates[0]) ?? [];
  const start = rings[0]?.[0]?.[0] ?? 0;
  const lats = (rings[0] ?? []).map(([, lat = 0]) => lat);
  const middle = (Math.min(...lats) + Math.max(...lats)) / 2;
  const crossed = rings.flatMap(ring => crossings(ring, middle, start)).toSorted((a, b) => a - b);
  let widest: [west: number, east: number] = [start, start];
  for (let at = 0; at + 1 < crossed.length; at += 2) {
    const [west = start, east = start] = crossed.slice(at, at + 2);
    if (east - west > widest[1] - widest[0]) widest = [west, east];
  }
  return [turned((widest[0] + widest[1]) / 2), middle];
}

/** Where a ring crosses a latitude, in longitudes that go on beyond the date line. */
function crossings(ring: readonly Position[], latitude: number, start: number): number[] {
  return ring.flatMap(([lon = 0, lat = 0], index) => {
    const [beforeLon = 0, beforeLat = 0] = ring.at(index - 1) ?? [];
    if (lat > latitude === beforeLat > latitude) return [];
    const [x, before] = [start + turned(lon - start), start + turned(beforeLon - start)];
    return [x + ((latitude - lat) / (beforeLat - lat)) * (before - x)];
  });
}

/** Degrees between -180 and 180. */
const turned = (degrees: number) => degrees - 360 * Math.round(degrees / 360);
