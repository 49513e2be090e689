import { Problem } from '../platform/http/problems.ts';
import { lineLength, ringArea } from './area.ts';
import type { Bounds } from './covers.ts';
import type { Ground } from './polygon.ts';
import { readPosition } from './position.ts';
import { edgesOf, type Ring } from './ring.ts';
import { checkRings } from './rings.ts';

/** The largest field, 1000 international acres, which is the AgStack registry's limit too. */
const MAX_AREA_M2 = 1000 * 4046.856_422_4;

/** Limits of a boundary; each also limits the work that one boundary can cause. */
export const LIMITS = {
  positions: 5_000,
  rings: 256,
  /** The plane of longitude and latitude is no picture of the ground near a pole. */
  latitude: 89,
  /** Metres from one side of the bounding box to the other. */
  extent: 20_000,
  /** Square metres of the bounding box, five times the largest field: its level-20 cells are counted one by one. */
  boxArea: 20e6,
  /** Metres along all rings. */
  length: 100_000,
};

/**
 * Reads a GeoJSON geometry as the boundary of a field: a Polygon, or a MultiPolygon whose parts do not overlap.
 * Rings may run either way round; a position may carry an altitude, which is not used; a position repeated at once
 * counts once. A boundary may cross the date line either in the two parts of RFC 7946 §3.1.9 or in a ring that jumps
 * from one side to the other.
 *
 * @param path what the geometry is called in the request, for error messages
 * @throws Problem invalid, naming the path of the ring or position
 */
export function readBoundary(geometry: unknown, path: string): Ground {
  const rings = readRings(geometry, path);
  const bounds = placeTogether(rings);
  checkExtent(rings, bounds, path);
  checkRings(rings);
  return groundOf(rings, bounds);
}

/**
 * Holds a boundary to the size of a field.
 *
 * @throws Problem invalid, naming `path`
 */
export function checkArea(areaM2: number, path: string): void {
  if (areaM2 <= MAX_AREA_M2) return;
  const acres = (areaM2 / MAX_AREA_M2) * 1000;
  throw new Problem('boundary.too_large', { field: path, acres: acres.toFixed(1) });
}

/** How many positions a geometry has, at most about: what reading it costs is in proportion to them. */
export function countPositions(geometry: unknown): number {
  const count = (value: unknown, levels: number): number => {
    if (!Array.isArray(value)) return 1;
    return levels === 1 ? value.length : value.reduce((sum, inside) => sum + count(inside, levels - 1), 0);
  };
  const { type, coordinates } = (geometry ?? {}) as { type?: unknown; coordinates?: unknown };
  return count(coordinates, type === 'MultiPolygon' ? 3 : 2);
}

/** The ground of a geometry that was checked before, such as a stored one. */
export function groundOfChecked(geometry: unknown): Ground {
  const rings = readRings(geometry, 'geometry');
  return groundOf(rings, placeTogether(rings));
}

function readRings(geometry: unknown, path: string): Ring[] {
  const { type, coordinates } = (geometry ?? {}) as { type?: unknown; coordinates?: unknown };
  if (type !== 'Polygon' && type !== 'MultiPolygon') {
    throw new Problem('boundary.wrong_type', { field: `${path}.type` });
  }
  const listed = listRings(type, coordinates, path);
  const rings: Ring[] = [];
  let shell: Ring | undefined;
  for (const { part, hole, path: ringPath, points } of listed) {
    const line = turned(unroll(readPositions(points, ringPath), ringPath), hole);
    const ring = { part, hole, path: ringPath, line };
    if (!hole) shell = ring;
    else if (shell) moveInto(ring, shell);
    rings.push(ring);
  }
  return rings;
}

interface ListedRing {
  part: number;
  hole: boolean;
  path: string;
  points: unknown[];
}

/** The rings as they were sent. They and their positions are counted before anything is computed of them. */
function listRings(type: 'Polygon' | 'MultiPolygon', coordinates: unknown, path: string): ListedRing[] {
  const whole = `${path}.coordinates`;
  const parts = type === 'Polygon' ? [coordinates] : list(coordinates, 'boundary.no_polygons', whole);
  if (parts.length > LIMITS.rings) throw tooMany('rings', path);
  const rings: ListedRing[] = [];
  let positions = 0;
  for (const [part, polygon] of parts.entries()) {
    const partPath = type === 'Polygon' ? whole : `${whole}[${part}]`;
    for (const [index, ring] of list(polygon, 'boundary.no_rings', partPath).entries()) {
      const ringPath = `${partPath}[${index}]`;
      const points = list(ring, 'boundary.no_positions', ringPath);
      positions += points.length;
      if (positions > LIMITS.positions) throw tooMany('positions', path);
      if (rings.length === LIMITS.rings) throw tooMany('rings', path);
      rings.push({ part, hole: index > 0, path: ringPath, points });
    }
  }
  return rings;
}

type MissingList = 'boundary.no_polygons' | 'boundary.no_rings' | 'boundary.no_positions';

function list(value: unknown, missing: MissingList, path: string): unknown[] {
  if (!Array.isArray(value) || value.length === 0) throw new Problem(missing, { field: path });
  return value;
}

function tooMany(what: 'rings' | 'positions', path: string): Problem {
  const reason = what === 'rings' ? 'boundary.too_many_rings' : 'boundary.too_many_positions';
  return new Problem(reason, { field: path, max: LIMITS[what] });
}

/** The positions of a closed ring as [lon, lat, …], in degrees as sent. */
function readPositions(points: unknown[], path: string): number[] {
  const line: number[] = [];
  for (const [index, point] of points.entries()) {
    const position = readPosition(point, `${path}[${index}]`);
    if ('fault' in position) throw new Problem([position.fault]);
    line.push(position[0], position[1]);
  }
  if (points.length < 4) throw new Problem('ring.too_short', { field: path });
  if (line[0] !== line.at(-2) || line[1] !== line.at(-1)) {
    throw new Problem('ring.not_closed', { field: path });
  }
  return line;
}

/**
 * Lets longitudes run on past the date line, so that the ring begins in the west between −180 and below 180: a step
 * of more than half the globe goes the other way round. Leaves out positions that repeat the one before.
 */
function unroll(line: number[], path: string): number[] {
  const turns: number[] = [];
  let turn = 0;
  let west = Infinity;
  for (let k = 0; k < line.length; k += 2) {
    const step = k === 0 ? 0 : (line[k] as number) - (line[k - 2] as number);
    if (Math.abs(step) === 180) throw new Problem('ring.half_globe', { field: path });
    if (step > 180) turn -= 360;
    if (step < -180) turn += 360;
    turns.push(turn);
    west = Math.min(west, (line[k] as number) + turn);
    if (Math.abs(line[k + 1] as number) > LIMITS.latitude) {
      throw new Problem('ring.near_pole', { field: path, max: LIMITS.latitude });
    }
  }
  if (turn !== 0) throw new Problem('ring.around_pole', { field: path });

  const start = west < -180 ? 360 : west >= 180 ? -360 : 0;
  const unrolled: number[] = [];
  for (const [index, offset] of turns.entries()) {
    // One addition from what was sent, so that a point that is moved in the same way compares exactly.
    const lon = (line[2 * index] as number) + (offset + start);
    const lat = line[2 * index + 1] as number;
    if (unrolled.at(-2) !== lon || unrolled.at(-1) !== lat) unrolled.push(lon, lat);
  }
  if (unrolled.length < 8) throw new Problem('ring.too_few_positions', { field: path });
  return unrolled;
}

/** The ring counter-clockwise, or clockwise for a hole: the ground always lies to the left of its edges. */
function turned(line: number[], hole: boolean): number[] {
  if (ringArea(line) > 0 !== hole) return line;
  const reversed: number[] = [];
  for (let k = line.length - 2; k >= 0; k -= 2) reversed.push(line[k] as number, line[k + 1] as number);
  return reversed;
}

function longitudes(line: number[]): [west: number, east: number] {
  let west = Infinity;
  let east = -Infinity;
  for (let k = 0; k < line.length; k += 2) {
    west = Math.min(west, line[k] as number);
    east = Math.max(east, line[k] as number);
  }
  return [west, east];
}

function shift(line: number[], degrees: number): void {
  for (let k = 0; k < line.length; k += 2) line[k] = (line[k] as number) + degrees;
}

/** Moves a hole by a turn of the globe where its shell was unrolled to the other side of the date line. */
function moveInto(hole: Ring, shell: Ring): void {
  const [west] = longitudes(hole.line);
  const [shellWest, shellEast] = longitudes(shell.line);
  if (west + 360 <= shellEast) shift(hole.line, 360);
  else if (west > shellEast && west - 360 >= shellWest) shift(hole.line, -360);
}

/**
 * Moves parts by a turn of the globe so that all lie within the narrowest range of longitudes, the one that leaves
 * out the widest gap between them.
 *
 * @returns the bounds of all rings, west from −180 to below 180
 */
function placeTogether(rings: Ring[]): Bounds {
  const spans = rings
    .filter(({ hole }) => !hole)
    .map(({ part, line }) => ({ part, span: longitudes(line) }))
    .sort((a, b) => a.span[0] - b.span[0]);
  let first = 0;
  let widest = (spans[0]?.span[0] ?? 0) + 360 - Math.max(...spans.map(({ span }) => span[1]));
  let east = -Infinity;
  for (const [index, { span }] of spans.entries()) {
    if (index > 0 && span[0] - east > widest) {
      widest = span[0] - east;
      first = index;
    }
    east = Math.max(east, span[1]);
  }
  const moved = new Set(spans.slice(0, first).map(({ part }) => part));
  for (const { part, line } of rings) if (moved.has(part)) shift(line, 360);

  const bounds = { south: Infinity, west: Infinity, north: -Infinity, east: -Infinity };
  for (const { line } of rings) {
    const [west, eastmost] = longitudes(line);
    bounds.west = Math.min(bounds.west, west);
    bounds.east = Math.max(bounds.east, eastmost);
    for (let k = 1; k < line.length; k += 2) {
      bounds.south = Math.min(bounds.south, line[k] as number);
      bounds.north = Math.max(bounds.north, line[k] as number);
    }
  }
  return bounds;
}

function checkExtent(rings: Ring[], { south, west, north, east }: Bounds, path: string): void {
  const box = [west, south, east, south, east, north, west, north, west, south];
  const sides = [0, 2, 4].map(k => lineLength(box.slice(k, k + 4)));
  if (Math.max(...sides) > LIMITS.extent) {
    throw new Problem('boundary.too_wide', { field: path, max_km: LIMITS.extent / 1000 });
  }
  if (ringArea(box) > LIMITS.boxArea) {
    throw new Problem('boundary.too_scattered', { field: path, max_km2: LIMITS.boxArea / 1e6 });
  }
  if (rings.reduce((sum, { line }) => sum + lineLength(line), 0) > LIMITS.length) {
    throw new Problem('boundary.too_long', { field: path, max_km: LIMITS.length / 1000 });
  }
}

function groundOf(rings: Ring[], bounds: Bounds): Ground {
  const areaM2 = rings.reduce((sum, { line }) => sum + ringArea(line), 0);
  return { edges: edgesOf(rings), bounds, areaM2 };
}
