import { isBetween, orientation } from './predicates.ts';
import { edgesOf, type Ring } from './ring.ts';
import { pointsInside } from './sweep.ts';

/** An edge of a ring; `at` is where it begins in the ring's line. */
export interface Edge {
  ring: Ring;
  at: number;
  ax: number;
  ay: number;
  bx: number;
  by: number;
}

/** Where an edge meets a region (a ring of its own polygon, or another polygon): points and stretches, as fractions of its length. */
interface Cuts {
  fractions: number[];
  shared: [from: number, to: number][];
}

/** Where the edges of rings meet regions: by ring, by region, by where the edge begins. */
export type Cutting = Map<Ring, Map<string, Map<number, Cuts>>>;

/** Where a ring lies that crosses no edge of a region. */
export type Side = 'inside' | 'outside' | 'both';

/** Notes that two edges of different rings touch or overlap. */
export function noteContact(cutting: Cutting, edge: Edge, other: Edge, overlap: boolean): void {
  note(cutting, edge, other, overlap);
  note(cutting, other, edge, overlap);
}

function note(cutting: Cutting, edge: Edge, other: Edge, overlap: boolean): void {
  const { ax, ay, bx, by } = edge;
  const regions = cutting.get(edge.ring) ?? new Map<string, Map<number, Cuts>>();
  const region = regionOf(edge.ring, other.ring);
  const edges = regions.get(region) ?? new Map<number, Cuts>();
  const cuts = edges.get(edge.at) ?? { fractions: [], shared: [] };
  cutting.set(edge.ring, regions.set(region, edges.set(edge.at, cuts)));

  const fractionAt = (x: number, y: number): number =>
    Math.abs(bx - ax) > Math.abs(by - ay) ? (x - ax) / (bx - ax) : (y - ay) / (by - ay);
  const fractions = [fractionAt(other.ax, other.ay), fractionAt(other.bx, other.by)].map(at =>
    Math.min(1, Math.max(0, at)),
  );
  const [from, to] = [Math.min(...fractions), Math.max(...fractions)];
  if (overlap) {
    cuts.fractions.push(from, to);
    cuts.shared.push([from, to]);
    return;
  }
  if (isOn(edge, other.ax, other.ay)) cuts.fractions.push(fractionAt(other.ax, other.ay));
  if (isOn(edge, other.bx, other.by)) cuts.fractions.push(fractionAt(other.bx, other.by));
}

/** The region that a ring is compared with: the other ring of its own polygon, or the whole other polygon. */
function regionOf(ring: Ring, other: Ring): string {
  return ring.part === other.part ? other.path : `part ${other.part}`;
}

function isOn({ ax, ay, bx, by }: Edge, x: number, y: number): boolean {
  return isBetween(ax, ay, bx, by, x, y) && orientation(ax, ay, bx, by, x, y) === 0;
}

/**
 * Where rings lie that cross no edge of a region. Between two contacts a ring stays on one side, so one point of every
 * stretch decides; a stretch that is shared with the region says nothing.
 *
 * @param region one ring, or all rings of a polygon; none of them among `rings`
 * @returns the sides, in the order of the rings
 */
export function sidesOf(rings: readonly Ring[], region: readonly Ring[], cutting: Cutting): Side[] {
  const [first] = region as [Ring];
  const points: number[] = [];
  const counts = rings.map(ring => {
    const before = points.length;
    const edges = cutting.get(ring)?.get(regionOf(ring, first));
    if (edges) for (const [at, cuts] of edges) addStretches(ring.line, at, cuts, points);
    else points.push(ring.line[0] as number, ring.line[1] as number);
    return (points.length - before) / 2;
  });
  // A hole alone is bounded like the ground around it: what is inside of it is not to the left of its edges.
  const isHole = region.length === 1 && first.hole;
  const inside = pointsInside(edgesOf(region, isHole), points);
  let next = 0;
  return counts.map(count => {
    const insideCount = inside.slice(next, next + count).filter(Boolean).length;
    next += count;
    return insideCount === 0 ? 'outside' : insideCount === count ? 'inside' : 'both';
  });
}

/** Adds a point of every stretch of an edge between two contacts. */
function addStretches(
  line: readonly number[],
  at: number,
  { fractions, shared }: Cuts,
  points: number[],
): void {
  const [ax, ay, bx, by] = line.slice(at, at + 4) as [number, number, number, number];
  const stops = [0, ...fractions.sort((a, b) => a - b), 1];
  shared.sort(([a], [b]) => a - b);
  let sharedTo = 0;
  let next = 0;
  for (const [index, stop] of stops.slice(1).entries()) {
    const from = stops[index] as number;
    if (stop === from) continue;
    for (; next < shared.length && (shared[next] as [number, number])[0] <= from; next++) {
      sharedTo = Math.max(sharedTo, (shared[next] as [number, number])[1]);
    }
    if (stop <= sharedTo) continue;
    const middle = (from + stop) / 2;
    points.push(ax + middle * (bx - ax), ay + middle * (by - ay));
  }
}
