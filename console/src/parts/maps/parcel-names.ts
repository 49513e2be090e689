import type { Edges } from './view.ts';

/** A part of a field that a tile has. */
export interface ParcelPart {
  properties: { geoid?: string; name?: string } | null;
  geometry: GeoJSON.Geometry;
}

/** Points with names. */
export type ParcelNames = GeoJSON.FeatureCollection<GeoJSON.Point>;

type Rings = GeoJSON.Position[][];

/** How far from the south of what is seen of a field its name can be, the best first. */
const HEIGHTS = [1 / 2, 1 / 4, 3 / 4];
/** How many times wider the field must be there than at the height before. */
const WIDER = 1.2;

/** Where the names of fields are: each has one, inside and within the edges, in however many tiles the field is. */
export function parcelNames(parts: readonly ParcelPart[], edges: Edges): ParcelNames {
  const parcels = new Map<string, { name: string; rings: Rings[] }>();
  for (const { properties, geometry } of parts) {
    const { geoid, name } = properties ?? {};
    const polygons = polygonsOf(geometry);
    if (geoid === undefined || name === undefined || polygons.length === 0) continue;
    const named = parcels.get(geoid);
    if (named) named.rings.push(...polygons);
    else parcels.set(geoid, { name, rings: polygons });
  }
  const sorted = [...parcels].sort(([a], [b]) => (a < b ? -1 : 1));
  const features = sorted.flatMap(([geoid, { name, rings }]): GeoJSON.Feature<GeoJSON.Point>[] => {
    const coordinates = middleOf(rings, withinWorld(edges));
    return coordinates === undefined
      ? []
      : [{ type: 'Feature', properties: { geoid, name }, geometry: { type: 'Point', coordinates } }];
  });
  return { type: 'FeatureCollection', features };
}

function polygonsOf(geometry: GeoJSON.Geometry): Rings[] {
  if (geometry.type === 'Polygon') return [geometry.coordinates];
  return geometry.type === 'MultiPolygon' ? geometry.coordinates : [];
}

/** A map can be turned around the world more than once. */
function withinWorld({ west, east, ...others }: Edges): Edges {
  const turns = 360 * Math.floor(((west + east) / 2 + 180) / 360);
  return { west: west - turns, east: east - turns, ...others };
}

/** The middle of the widest stretch within the edges; undefined if nothing of the field is there. */
function middleOf(polygons: readonly Rings[], edges: Edges): GeoJSON.Position | undefined {
  const lats = polygons.flatMap(rings => rings.flatMap(ring => ring.map(([, lat = 0]) => lat)));
  const [lowest, highest] = lats.reduce(
    ([low, high], lat) => [Math.min(low, lat), Math.max(high, lat)],
    [90, -90],
  );
  const south = Math.max(edges.south, lowest);
  const north = Math.min(edges.north, highest);
  if (south > north) return undefined;
  let widest = 0;
  let middle: GeoJSON.Position | undefined;
  for (const height of HEIGHTS) {
    const lat = south + (north - south) * height;
    for (const [from, to] of together(polygons.flatMap(rings => stretchesAt(lat, rings)))) {
      const [west, east] = [Math.max(edges.west, from), Math.min(edges.east, to)];
      if (east - west <= widest * WIDER) continue;
      widest = east - west;
      middle = [(west + east) / 2, lat];
    }
  }
  return middle;
}

/** The stretches of a latitude inside rings, from west to east. */
function stretchesAt(lat: number, rings: Rings): [from: number, to: number][] {
  const crossings: number[] = [];
  for (const ring of rings) {
    for (const [index, [lon = 0, from = 0]] of ring.entries()) {
      const [nextLon = 0, to = 0] = ring[index + 1] ?? ring[0] ?? [];
      if (from > lat === to > lat) continue;
      crossings.push(lon + ((nextLon - lon) * (lat - from)) / (to - from));
    }
  }
  crossings.sort((a, b) => a - b);
  return Array.from({ length: crossings.length >> 1 }, (_, n) => [
    crossings[2 * n] as number,
    crossings[2 * n + 1] as number,
  ]);
}

/** Stretches of neighbouring tiles, which overlap, as one. */
function together(stretches: readonly [from: number, to: number][]): [from: number, to: number][] {
  const joined: [from: number, to: number][] = [];
  for (const [from, to] of [...stretches].sort(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}
