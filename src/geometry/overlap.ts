import { ringArea } from './area.ts';
import type { Bounds } from './covers.ts';
import type { Ground } from './polygon.ts';

/** Lines from west to east along which an overlap is measured. */
const LINES = 64;
/** Points on each line. */
const POINTS = 128;

/** The stretches of a line that are inside: pairs of longitudes, from west to east. */
type Stretches = readonly number[];

/** A part of a ground, by points of it. */
interface Line {
  latitude: number;
  /** longitudes inside the ground, from west to east */
  points: Float64Array;
  /** which of the points lie in another ground: 1, otherwise 0 */
  covered: Uint8Array;
  /** the area that each point stands for, in m² */
  areaOfPoint: number;
}

/** The part of a ground that lies in others. */
export interface Overlap {
  /** Takes about 0.4 µs for each number of the other's edges. */
  add(other: Ground): void;
  /** The area of the ground that lies in at least one of those added, in m². */
  area(): number;
}

/**
 * Measures the part of a ground that lies in others, good to some percent. It is measured at points inside the ground,
 * so that neither a thin tail, which makes bounds large, nor a part far away changes it, and so that many others take no
 * more memory than one. Each point is at a random place of its part of the ground: a boundary cannot be drawn around
 * points that nobody knows.
 *
 * @param window where it is measured, in degrees
 */
export function overlapWith({ edges, bounds }: Ground, window: Bounds = bounds): Overlap {
  const { south, north, west, east } = window;
  const height = (north - south) / LINES;
  const lines = Array.from({ length: LINES }, (_, line): Line => {
    const bottom = south + line * height;
    const latitude = bottom + Math.random() * height;
    const { points, length } = pointsIn(within(stretches(edges, latitude), west, east));
    const areaOfPoint = (areaOfDegree(bottom, bottom + height) * length) / POINTS;
    return { latitude, points, covered: new Uint8Array(points.length), areaOfPoint };
  }).filter(({ points }) => points.length > 0);
  return {
    add(other) {
      const turn = turnTo(bounds, other.bounds);
      if (turn === undefined) return;
      for (const line of lines) cover(line, other, turn);
    },
    area: () =>
      lines.reduce(
        (sum, { covered, areaOfPoint }) => sum + areaOfPoint * covered.reduce((count, one) => count + one, 0),
        0,
      ),
  };
}

/** The area that two grounds share, in m²; see {@link overlapWith}. */
export function sharedArea(ground: Ground, other: Ground): number {
  const turn = turnTo(ground.bounds, other.bounds);
  if (turn === undefined) return 0;
  const window = {
    south: Math.max(ground.bounds.south, other.bounds.south),
    north: Math.min(ground.bounds.north, other.bounds.north),
    west: Math.max(ground.bounds.west, other.bounds.west + turn),
    east: Math.min(ground.bounds.east, other.bounds.east + turn),
  };
  if (window.south >= window.north) return 0;
  const overlap = overlapWith(ground, window);
  overlap.add(other);
  return overlap.area();
}

/** The degrees by which longitudes must be turned to overlap other bounds; undefined if they cannot. */
function turnTo(to: Bounds, { west, east }: Bounds): number | undefined {
  return [0, 360, -360].find(degrees => west + degrees <= to.east && east + degrees >= to.west);
}

/** Where a parallel is inside the edges of a ground, by parity, as holes and parts come out right. */
function stretches(edges: Float64Array, latitude: number): Stretches {
  const crossings: number[] = [];
  eachCrossing(edges, latitude, x => crossings.push(x));
  return crossings.sort((a, b) => a - b);
}

/** The part of stretches that is between two longitudes. */
function within(all: Stretches, west: number, east: number): Stretches {
  const cut: number[] = [];
  for (let k = 0; k + 1 < all.length; k += 2) {
    const [from, to] = [Math.max(all[k] as number, west), Math.min(all[k + 1] as number, east)];
    if (from < to) cut.push(from, to);
  }
  return cut;
}

/** Points in stretches, one at a random place of each of as many equal parts, and the length of all in degrees. */
function pointsIn(all: Stretches): { points: Float64Array; length: number } {
  let length = 0;
  for (let k = 0; k + 1 < all.length; k += 2) length += (all[k + 1] as number) - (all[k] as number);
  const points = new Float64Array(length > 0 ? POINTS : 0);
  let [k, before] = [0, 0];
  for (let point = 0; point < points.length; point++) {
    const along = ((point + Math.random()) / POINTS) * length;
    for (;;) {
      const [from, to] = [all[k] as number, all[k + 1] as number];
      if (along <= before + (to - from) || k + 3 >= all.length) {
        points[point] = Math.min(from + along - before, to);
        break;
      }
      before += to - from;
      k += 2;
    }
  }
  return { points, length };
}

/** Notes which points of a line lie in another ground: those that have an odd number of its crossings west of them. */
function cover({ latitude, points, covered }: Line, { edges, bounds }: Ground, turn: number): void {
  if (latitude < bounds.south || latitude > bounds.north) return;
  const turns = new Uint8Array(points.length + 1);
  eachCrossing(edges, latitude, x => {
    const first = firstEastOf(points, x + turn);
    turns[first] = 1 - (turns[first] as number);
  });
  let inside = 0;
  for (let point = 0; point < points.length; point++) {
    inside ^= turns[point] as number;
    covered[point] = (covered[point] as number) | inside;
  }
}

/** Calls for every edge that crosses a parallel, with the longitude at which it does. */
function eachCrossing(edges: Float64Array, latitude: number, found: (x: number) => void): void {
  for (let k = 0; k < edges.length; k += 4) {
    const [ay, by] = [edges[k + 1] as number, edges[k + 3] as number];
    if (ay > latitude === by > latitude) continue;
    const [ax, bx] = [edges[k] as number, edges[k + 2] as number];
    found(ax + ((latitude - ay) / (by - ay)) * (bx - ax));
  }
}

/** The index of the first of some ascending numbers that is above another; their count if none is. */
function firstEastOf(points: Float64Array, x: number): number {
  let [low, high] = [0, points.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((points[middle] as number) > x) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The area of one degree of longitude between two near parallels, in m². */
function areaOfDegree(south: number, north: number): number {
  return ringArea([0, south, 1, south, 1, north, 0, north, 0, south]);
}
