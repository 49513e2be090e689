import { ringArea } from './area.ts';
import type { Bounds } from './covers.ts';
import type { Ground } from './polygon.ts';

/** Lines from west to east along which an overlap is measured. */
const LINES = 64;

/** Where a line is inside: from west to east, pairs of longitudes one after another. */
type Stretches = readonly number[];

/** The part of a ground that lies in others. */
export interface Overlap {
  add(other: Ground): void;
  /** The area of the ground that lies in at least one of those added, in m². */
  area(): number;
}

/**
 * Measures the part of a ground that lies in others, good to some percent. It is measured along lines, so that neither a
 * thin tail, which makes bounds large, nor a part far away changes it. Each line is at a random latitude of its band: a
 * boundary cannot be drawn around lines that nobody knows.
 *
 * @param between the latitudes between which it is measured, in degrees
 */
export function overlapWith(
  { edges, bounds }: Ground,
  { south, north }: Pick<Bounds, 'south' | 'north'> = bounds,
): Overlap {
  const height = (north - south) / LINES;
  const lines = Array.from({ length: LINES }, (_, line) => {
    const bottom = south + line * height;
    const latitude = bottom + Math.random() * height;
    const degree = areaOfDegree(bottom, bottom + height);
    return { latitude, degree, own: stretches(edges, latitude), covered: [] as Stretches[] };
  });
  return {
    add(other) {
      const turn = turnTo(bounds, other.bounds);
      if (turn === undefined) return;
      for (const { latitude, own, covered } of lines) {
        const shared = own.length > 0 ? stretches(other.edges, latitude, turn) : own;
        if (shared.length > 0) covered.push(shared);
      }
    },
    area: () =>
      lines.reduce((sum, { own, covered, degree }) => sum + commonLength(own, union(covered)) * degree, 0),
  };
}

/** The area that two grounds share, in m²; see {@link overlapWith}. */
export function sharedArea(ground: Ground, other: Ground): number {
  const south = Math.max(ground.bounds.south, other.bounds.south);
  const north = Math.min(ground.bounds.north, other.bounds.north);
  if (south >= north) return 0;
  const overlap = overlapWith(ground, { south, north });
  overlap.add(other);
  return overlap.area();
}

/** The degrees by which longitudes have to be turned to those of other bounds; undefined if they are elsewhere. */
function turnTo(to: Bounds, { west, east }: Bounds): number | undefined {
  return [0, 360, -360].find(degrees => west + degrees <= to.east && east + degrees >= to.west);
}

/** Where a parallel is inside the edges of a ground, by parity, as holes and parts come out right. */
function stretches(edges: Float64Array, latitude: number, turn = 0): Stretches {
  const crossings: number[] = [];
  for (let k = 0; k < edges.length; k += 4) {
    const [ay, by] = [edges[k + 1] as number, edges[k + 3] as number];
    if (ay > latitude === by > latitude) continue;
    const [ax, bx] = [edges[k] as number, edges[k + 2] as number];
    crossings.push(ax + ((latitude - ay) / (by - ay)) * (bx - ax) + turn);
  }
  return crossings.sort((a, b) => a - b);
}

function union(all: readonly Stretches[]): Stretches {
  const pairs: [from: number, to: number][] = [];
  for (const stretches of all) {
    for (let k = 0; k + 1 < stretches.length; k += 2)
      pairs.push([stretches[k] as number, stretches[k + 1] as number]);
  }
  pairs.sort(([a], [b]) => a - b);
  const joined: number[] = [];
  for (const [from, to] of pairs) {
    const end = joined.at(-1);
    if (end === undefined || from > end) joined.push(from, to);
    else joined[joined.length - 1] = Math.max(end, to);
  }
  return joined;
}

/** The degrees of longitude that are in both. */
function commonLength(a: Stretches, b: Stretches): number {
  let length = 0;
  for (let k = 0, m = 0; k + 1 < a.length && m + 1 < b.length; ) {
    const [aTo, bTo] = [a[k + 1] as number, b[m + 1] as number];
    length += Math.max(0, Math.min(aTo, bTo) - Math.max(a[k] as number, b[m] as number));
    if (aTo < bTo) k += 2;
    else m += 2;
  }
  return length;
}

/** The area of one degree of longitude between two near parallels, in m². */
function areaOfDegree(south: number, north: number): number {
  return ringArea([0, south, 1, south, 1, north, 0, north, 0, south]);
}
