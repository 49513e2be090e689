import { Problem } from '../platform/http/problems.ts';
import { isBetween, meeting, orientation } from './predicates.ts';

/** One ring of a boundary: closed, [lon, lat, …] in degrees, the ground to its left, no position repeated at once. */
export interface Ring {
  part: number;
  hole: boolean;
  path: string;
  line: number[];
}

/** An edge of a ring; `at` is where it begins in the ring's line. */
interface Edge {
  ring: Ring;
  at: number;
  ax: number;
  ay: number;
  bx: number;
  by: number;
}

/** Where an edge meets a region (a ring of its own polygon, or another polygon): places and stretches, 0 to 1. */
interface Cuts {
  places: number[];
  shared: [from: number, to: number][];
}

/** By ring, by region, by the beginning of the edge. */
type Contacts = Map<Ring, Map<string, Map<number, Cuts>>>;

/**
 * Holds rings to the rules of a polygon (OGC Simple Features 6.1.11): no ring crosses or touches itself, no two rings
 * cross, holes lie inside their shell and outside one another, parts do not overlap. Rings may touch in points. Parts
 * may also share an edge, which the two parts of a boundary on the date line always do; a polygon may not.
 *
 * @throws Problem invalid, naming the path of a ring
 */
export function checkRings(rings: readonly Ring[]): void {
  const contacts: Contacts = new Map(rings.map(ring => [ring, new Map()]));
  for (const [one, other] of closePairs(rings)) compare(one, other, contacts);
  const parts = Map.groupBy(rings, ({ part }) => part);
  for (const ring of rings) {
    for (const [part, others] of parts) {
      if (part === ring.part) checkHole(ring, others, contacts);
      else if (side(ring, others, contacts) !== 'outside') {
        throw new Problem('invalid', `${ring.path}: the polygon overlaps ${others[0]?.path}`);
      }
    }
  }
}

function checkHole(ring: Ring, polygon: readonly Ring[], contacts: Contacts): void {
  if (!ring.hole) return;
  for (const other of polygon) {
    if (other === ring) continue;
    const inside = side(ring, [other], contacts);
    if (other.hole && inside !== 'outside')
      throw new Problem('invalid', `${ring.path}: the hole overlaps ${other.path}`);
    if (!other.hole && inside !== 'inside') {
      throw new Problem('invalid', `${ring.path}: the hole does not lie inside ${other.path}`);
    }
  }
}

/** What a ring is compared with where it meets another: that ring of its own polygon, or the whole other polygon. */
function regionOf(ring: Ring, other: Ring): string {
  return ring.part === other.part ? other.path : `part ${other.part}`;
}

/**
 * The pairs of edges whose boxes meet, each once: a sweep over the edges at hand, along the axis on which they are
 * short in proportion to all of them.
 */
function* closePairs(rings: readonly Ring[]): Generator<[Edge, Edge]> {
  const edges = rings.flatMap(edgesOf);
  const alongX =
    shareOfExtent(edges.map(({ ax, bx }) => [ax, bx])) <= shareOfExtent(edges.map(({ ay, by }) => [ay, by]));
  const boxes = edges.map(edge => {
    const { ax, ay, bx, by } = edge;
    const [a, b, c, d] = alongX ? [ax, bx, ay, by] : [ay, by, ax, bx];
    return { edge, from: Math.min(a, b), to: Math.max(a, b), low: Math.min(c, d), high: Math.max(c, d) };
  });
  boxes.sort((a, b) => a.from - b.from);
  const open: typeof boxes = [];
  for (const box of boxes) {
    let kept = 0;
    for (const other of open) {
      if (other.to < box.from) continue;
      open[kept] = other;
      kept++;
      if (other.high >= box.low && other.low <= box.high) yield [other.edge, box.edge];
    }
    open.length = kept;
    open.push(box);
  }
}

/** How long intervals are on the whole, in proportion to the extent of all of them together. */
function shareOfExtent(intervals: readonly (readonly [number, number])[]): number {
  let [low, high, length] = [Infinity, -Infinity, 0];
  for (const [from, to] of intervals) {
    low = Math.min(low, from, to);
    high = Math.max(high, from, to);
    length += Math.abs(to - from);
  }
  return length / (high - low);
}

function edgesOf(ring: Ring): Edge[] {
  const edges: Edge[] = [];
  for (let at = 0; at + 3 < ring.line.length; at += 2) {
    const [ax, ay, bx, by] = ring.line.slice(at, at + 4) as [number, number, number, number];
    edges.push({ ring, at, ax, ay, bx, by });
  }
  return edges;
}

/** Refuses what two edges may never do, and notes where edges of different rings meet. */
function compare(one: Edge, other: Edge, contacts: Contacts): void {
  const { ax, ay, bx, by } = one;
  const how = meeting(ax, ay, bx, by, other.ax, other.ay, other.bx, other.by);
  if (how === 'apart') return;
  const where = `near [${ax > 180 ? ax - 360 : ax}, ${ay}]`;
  if (one.ring === other.ring) {
    if (how === 'touching' && areNeighbours(one, other)) return;
    throw new Problem('invalid', `${one.ring.path}: the ring crosses or touches itself ${where}`);
  }
  if (how === 'crossing') {
    throw new Problem('invalid', `${other.ring.path}: the ring crosses ${one.ring.path} ${where}`);
  }
  // Two polygons on either side of a shared edge run along it in opposite directions.
  const against = (bx - ax) * (other.bx - other.ax) + (by - ay) * (other.by - other.ay) < 0;
  if (how === 'overlapping' && (one.ring.part === other.ring.part || !against)) {
    throw new Problem('invalid', `${other.ring.path}: the ring overlaps ${one.ring.path} ${where}`);
  }
  note(one, other, how === 'overlapping', contacts);
  note(other, one, how === 'overlapping', contacts);
}

function areNeighbours(one: Edge, other: Edge): boolean {
  const apart = Math.abs(one.at - other.at);
  return apart === 2 || apart === one.ring.line.length - 4;
}

function note(edge: Edge, other: Edge, shared: boolean, contacts: Contacts): void {
  const { ax, ay, bx, by } = edge;
  const regions = contacts.get(edge.ring) as Map<string, Map<number, Cuts>>;
  const region = regionOf(edge.ring, other.ring);
  const edges = regions.get(region) ?? new Map<number, Cuts>();
  const cuts = edges.get(edge.at) ?? { places: [], shared: [] };
  regions.set(region, edges.set(edge.at, cuts));

  const place = (x: number, y: number): number =>
    Math.abs(bx - ax) > Math.abs(by - ay) ? (x - ax) / (bx - ax) : (y - ay) / (by - ay);
  const places = [place(other.ax, other.ay), place(other.bx, other.by)].map(at =>
    Math.min(1, Math.max(0, at)),
  );
  const [from, to] = [Math.min(...places), Math.max(...places)];
  if (shared) {
    cuts.places.push(from, to);
    cuts.shared.push([from, to]);
    return;
  }
  const { ax: cx, ay: cy, bx: dx, by: dy } = other;
  if (isOn(edge, cx, cy)) cuts.places.push(place(cx, cy));
  if (isOn(edge, dx, dy)) cuts.places.push(place(dx, dy));
}

function isOn({ ax, ay, bx, by }: Edge, x: number, y: number): boolean {
  return isBetween(ax, ay, bx, by, x, y) && orientation(ax, ay, bx, by, x, y) === 0;
}

/**
 * Where a ring that crosses no edge of a region lies. Between two contacts it stays on one side, so one point of every
 * stretch decides; a stretch shared with the region says nothing.
 */
function side(ring: Ring, region: readonly Ring[], contacts: Contacts): 'inside' | 'outside' | 'both' {
  const edges = contacts.get(ring)?.get(regionOf(ring, region[0] as Ring)) ?? new Map<number, Cuts>();
  const points: [x: number, y: number][] = [];
  for (const [at, { places, shared }] of edges) {
    const [ax, ay, bx, by] = ring.line.slice(at, at + 4) as [number, number, number, number];
    const stops = [0, ...places.sort((a, b) => a - b), 1];
    for (const [index, stop] of stops.slice(1).entries()) {
      const from = stops[index] as number;
      const middle = (from + stop) / 2;
      if (stop === from || shared.some(([a, b]) => a <= middle && middle <= b)) continue;
      points.push([ax + middle * (bx - ax), ay + middle * (by - ay)]);
    }
  }
  if (edges.size === 0) points.push([ring.line[0] as number, ring.line[1] as number]);
  const inside = points.filter(([x, y]) => holds(region, x, y)).length;
  return inside === 0 ? 'outside' : inside === points.length ? 'inside' : 'both';
}

/** Ray casting towards the east for a point that lies on no edge. */
function holds(rings: readonly Ring[], x: number, y: number): boolean {
  let inside = false;
  for (const { line } of rings) {
    for (let k = 0; k + 3 < line.length; k += 2) {
      const [ax, ay, bx, by] = [line[k], line[k + 1], line[k + 2], line[k + 3]] as number[] as [
        number,
        number,
        number,
        number,
      ];
      if (ay > y !== by > y && ax + ((y - ay) / (by - ay)) * (bx - ax) > x) inside = !inside;
    }
  }
  return inside;
}
