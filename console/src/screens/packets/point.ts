interface Point {
  lat: number;
  lon: number;
}

const isCoordinate = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);

/** Where a packet was made: its capture point, or the point of its GeoJSON. */
export function pointOf(body: Readonly<Record<string, unknown>>): Point | undefined {
  const { lat, lon } = (body.capture_point ?? {}) as Partial<Point>;
  if (isCoordinate(lat) && isCoordinate(lon)) return { lat, lon };
  const geojson = (body.geojson ?? {}) as { geometry?: object };
  const { type, coordinates } = (geojson.geometry ?? geojson) as { type?: unknown; coordinates?: unknown };
  if (type !== 'Point' || !Array.isArray(coordinates)) return undefined;
  const [east, north] = coordinates;
  return isCoordinate(east) && isCoordinate(north) ? { lat: north, lon: east } : undefined;
}
