import { project, squareOf, type Tile } from './mercator.ts';
import { EXTENT, type TilePoint } from './vector-tile.ts';

/** Units beyond the edges of a tile up to which polygons are drawn, so that their outlines do not show at the edges. */
const BUFFER = 64;

type Ring = readonly (readonly number[])[];

/** The polygons of a GeoJSON Polygon or MultiPolygon, each as rings. */
function polygonsOf({ type, coordinates }: { type: string; coordinates: unknown }): Ring[][] {
  return type === 'MultiPolygon' ? (coordinates as Ring[][]) : [coordinates as Ring[]];
}

/**
 * A boundary as rings of a tile: clipped to it, in whole units, outer rings clockwise and holes counterclockwise as seen
 * on the map. Empty where the two have no area in common.
 *
 * @param geometry GeoJSON Polygon or MultiPolygon that was checked at its registration
 */
export function outlineIn(tile: Tile, geometry: { type: string; coordinates: unknown }): TilePoint[][] {
  const square = squareOf(tile);
  const rings: TilePoint[][] = [];
  for (const [outer, ...holes] of polygonsOf(geometry)) {
    if (outer === undefined) continue;
    const turned = turns(outer, square);
    const project = (ring: Ring) =>
      whole(clipped(unwrapped(ring).map(([lon, lat]) => unitsOf(square, lon + turned, lat))));
    const shell = oriented(project(outer), true);
    if (shell === undefined) continue;
    rings.push(shell);
    for (const hole of holes) {
      const ring = oriented(project(hole), false);
      if (ring !== undefined) rings.push(ring);
    }
  }
  return rings;
}

function unitsOf(square: { x: number; y: number; size: number }, lon: number, lat: number): TilePoint {
  const { x, y } = project(lat, lon);
  return [((x - square.x) / square.size) * EXTENT, ((y - square.y) / square.size) * EXTENT];
}

/** The positions of a ring without the closing one, with longitudes that go on past 180 where the ring crosses it. */
function unwrapped(ring: Ring): (readonly [lon: number, lat: number])[] {
  let previous: number | undefined;
  return ring.slice(0, -1).map(([sent = 0, lat = 0]) => {
    let lon = sent;
    if (previous !== undefined) {
      while (lon - previous > 180) lon -= 360;
      while (lon - previous < -180) lon += 360;
    }
    previous = lon;
    return [lon, lat] as const;
  });
}

/** Degrees, −360, 0 or 360, by which a polygon has to be turned to be on the same side of the antimeridian as a tile. */
function turns(outer: Ring, square: { x: number; size: number }): number {
  const longitudes = unwrapped(outer).map(([lon]) => lon);
  const middle = (Math.min(...longitudes) + Math.max(...longitudes)) / 2;
  const { x } = project(0, middle);
  const full = project(0, 180).x;
  const away = (turned: number) => Math.abs(x + (turned / 360) * full - (square.x + square.size / 2));
  return [0, 360, -360].reduce((best, turned) => (away(turned) < away(best) ? turned : best));
}

/**
 * A ring cut to the tile and its buffer: Sutherland and Hodgman's algorithm, one edge of the tile after the other.
 */
function clipped(ring: readonly TilePoint[]): TilePoint[] {
  let rest: readonly TilePoint[] = ring;
  for (const axis of [0, 1] as const) {
    rest = cut(rest, axis, -BUFFER, (value, limit) => value >= limit);
    rest = cut(rest, axis, EXTENT + BUFFER, (value, limit) => value <= limit);
  }
  return [...rest];
}

function cut(
  ring: readonly TilePoint[],
  axis: 0 | 1,
  limit: number,
  isInside: (value: number, limit: number) => boolean,
): TilePoint[] {
  const kept: TilePoint[] = [];
  let previous = ring.at(-1);
  for (const position of ring) {
    const inside = isInside(position[axis], limit);
    if (previous && inside !== isInside(previous[axis], limit))
      kept.push(crossing(previous, position, axis, limit));
    if (inside) kept.push(position);
    previous = position;
  }
  return kept;
}

function crossing(from: TilePoint, to: TilePoint, axis: 0 | 1, limit: number): TilePoint {
  const part = (limit - from[axis]) / (to[axis] - from[axis]);
  const other = from[(1 - axis) as 0 | 1] + part * (to[(1 - axis) as 0 | 1] - from[(1 - axis) as 0 | 1]);
  return axis === 0 ? [limit, other] : [other, limit];
}

/** Rounds a ring to whole units, and removes repeated positions. */
function whole(ring: readonly TilePoint[]): TilePoint[] {
  const rounded = ring.map(([x, y]) => [Math.round(x), Math.round(y)] as const);
  return rounded.filter(([x, y], index) => {
    const [beforeX, beforeY] = rounded.at(index - 1) as TilePoint;
    return rounded.length === 1 || x !== beforeX || y !== beforeY;
  });
}

/**
 * A ring in the direction that says whether it is an outer one: the surveyor's formula is positive for those. Undefined
 * where nothing of it is left.
 */
function oriented(ring: TilePoint[], isOuter: boolean): TilePoint[] | undefined {
  let twiceArea = 0;
  let [lastX, lastY] = ring.at(-1) ?? [0, 0];
  for (const [x, y] of ring) {
    twiceArea += lastX * y - x * lastY;
    [lastX, lastY] = [x, y];
  }
  if (twiceArea === 0) return undefined;
  return twiceArea > 0 === isOuter ? ring : ring.reverse();
}
