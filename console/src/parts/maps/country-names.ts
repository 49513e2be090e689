type Countries = GeoJSON.FeatureCollection<GeoJSON.Geometry | null>;

/** Names of the map's data that are shortened, by ISO 3166-1 alpha-2. */
const SHORTENED: Readonly<Record<string, string>> = {
  CD: 'Dem. Rep. Congo',
  CG: 'Congo',
  CF: 'Central African Rep.',
  CI: "Côte d'Ivoire",
  SS: 'S. Sudan',
  GQ: 'Eq. Guinea',
  SZ: 'eSwatini',
  EH: 'W. Sahara',
  ST: 'São Tomé and Principe',
  CV: 'Cabo Verde',
  DO: 'Dominican Rep.',
  BA: 'Bosnia and Herz.',
  MK: 'Macedonia',
  TR: 'Turkey',
  US: 'United States of America',
  MM: 'Myanmar',
  SB: 'Solomon Is.',
  AG: 'Antigua and Barb.',
  KN: 'St. Kitts and Nevis',
  VC: 'St. Vin. and Gren.',
  PS: 'Palestine',
  MH: 'Marshall Is.',
};

/**
 * Countries with their names in another language, if they have one.
 *
 * @param nameOf the name of an alpha-2 code
 */
export function renamed<Of extends Countries>(
  countries: Of,
  nameOf: (code: string, b: string) => string,
): Of {
  const codes = codesByName();
  const features = countries.features.map(feature => {
    const name = String(feature.properties?.name ?? '');
    const code = codes.get(name);
    return { ...feature, properties: { ...feature.properties, name: code ? nameOf(code, name) : name } };
  });
  return { ...countries, features };
}

let codes: ReadonlyMap<string, string> | undefined;

/** The codes of countries by their English names, as the data of the map has them. */
export function codesByName(): ReadonlyMap<string, string> {
  codes ??= findCodes();
  return codes;
}

function findCodes(): ReadonlyMap<string, string> {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  const english = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const names = letters
    .flatMap(first => letters.map(second => first + second))
    .flatMap(code => {
      const name = english.of(code);
      return name === undefined ? [] : [[name, code] as const];
    });
  return new Map([...names, ...Object.entries(SHORTENED).map(([code, name]) => [name, code] as const)]);
}

/** A point for the name of each country: the middle of its largest part, with the area of that in square degrees. */
export function namePoints(countries: Countries): GeoJSON.FeatureCollection<GeoJSON.Point> {
  const features = countries.features.flatMap(({ properties, geometry }) => {
    const rings =
      geometry?.type === 'Polygon'
        ? geometry.coordinates.slice(0, 1)
        : geometry?.type === 'MultiPolygon'
          ? geometry.coordinates.flatMap(polygon => polygon.slice(0, 1))
          : [];
    const [largest] = rings.map(centroidOf).toSorted((a, b) => b.area - a.area);
    if (!largest) return [];
    const point = { type: 'Point' as const, coordinates: largest.middle };
    return [{ type: 'Feature' as const, properties: { ...properties, area: largest.area }, geometry: point }];
  });
  return { type: 'FeatureCollection', features };
}

/** The centroid of a ring (the shoelace formula), and its area, both in degrees. */
function centroidOf(ring: readonly GeoJSON.Position[]): { middle: [number, number]; area: number } {
  let [twice, x, y] = [0, 0, 0];
  for (const [index, [lon = 0, lat = 0]] of ring.entries()) {
    const [nextLon = 0, nextLat = 0] = ring[(index + 1) % ring.length] ?? [];
    const cross = lon * nextLat - nextLon * lat;
    twice += cross;
    x += (lon + nextLon) * cross;
    y += (lat + nextLat) * cross;
  }
  const [lon = 0, lat = 0] = ring[0] ?? [];
  const middle: [number, number] = twice === 0 ? [lon, lat] : [x / (3 * twice), y / (3 * twice)];
  return { middle, area: Math.abs(twice / 2) };
}
