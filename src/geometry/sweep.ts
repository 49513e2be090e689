import { type EdgeOrder, edgeOrder } from './edge-order.ts';
import { meeting, orientation } from './predicates.ts';

/** How two edges meet, and where: exact, except for the point of a crossing, which is rounded. */
export interface Contact {
  /** numbers of the two edges, the lower one first */
  first: number;
  second: number;
  how: 'crossing' | 'touching' | 'overlapping';
  x: number;
  y: number;
}

/**
 * Finds where edges meet by a sweep from west to east (Shamos and Hoey, "Geometric Intersection Problems", 1976), in
 * O((n + k) log n) for n edges and k contacts. The edges that the sweep line meets between two corners are kept in
 * their order from south to north. Edges that cross are neighbours in it before they do; every other contact is at a
 * corner, and the edges that hold a corner stand together. All decisions are exact.
 *
 * Edges that share a corner are in contact too; an overlap is reported at both its ends. The sweep ends at the first
 * crossing, as the order is wrong beyond it.
 *
 * @param edges [x, y, x, y] of the ends, one after another; no edge has length zero
 * @param accept called for each contact that is no crossing; returns whether to continue
 * @returns the contact that was not accepted, or the crossing
 */
export function sweepEdges(edges: Float64Array, accept: (contact: Contact) => boolean): Contact | undefined {
  const ends = rightwards(edges);
  const order = edgeOrder(edges.length / 4);
  for (const corner of corners(ends)) {
    const { below, above, held } = around(order, ends, corner.x, corner.y);
    const refused = refusedAmong([...held, ...corner.starting], ends, corner, accept);
    if (refused) return refused;
    pass(order, ends, corner, below, held);

    // New neighbours can cross further east.
    const last = order.previous(above);
    const crossing =
      crossingOf(below, order.next(below), ends) ??
      (last === below ? undefined : crossingOf(last, above, ends));
    if (crossing) return crossing;
  }
  return undefined;
}

/**
 * Which points lie inside a region, by the same sweep.
 *
 * @param edges the region's boundary, with the region to the left of every edge; none crosses another
 * @param points [x, y], one after another; none lies on an edge
 */
export function pointsInside(edges: Float64Array, points: readonly number[]): boolean[] {
  const inside: boolean[] = Array(points.length / 2).fill(false);
  const sorted = Array.from(inside.keys()).sort((a, b) => compare(points, 2 * a, points, 2 * b));
  const ends = rightwards(edges);
  const order = edgeOrder(edges.length / 4);
  let next = 0;
  for (const corner of corners(ends)) {
    for (; next < sorted.length; next++) {
      const point = sorted[next] as number;
      const [x, y] = [points[2 * point] as number, points[2 * point + 1] as number];
      if (x > corner.x || (x === corner.x && y >= corner.y)) break;
      const below = order.lastBelow(edge => sideOf(ends, edge, x, y) > 0);
      // To the left of an edge that runs eastwards lies what is above it.
      inside[point] = below !== -1 && compare(edges, 4 * below, edges, 4 * below + 2) < 0;
    }
    const { below, held } = around(order, ends, corner.x, corner.y);
    pass(order, ends, corner, below, held);
  }
  return inside;
}

/** A point where edges end, and those that start there. */
interface Corner {
  x: number;
  y: number;
  starting: number[];
}

/** The edges with their western ends first, of upright ones the southern. */
function rightwards(edges: Float64Array): Float64Array {
  const ends = edges.slice();
  for (let at = 0; at < ends.length; at += 4) {
    if (compare(edges, at, edges, at + 2) < 0) continue;
    ends.set(edges.subarray(at + 2, at + 4), at);
    ends.set(edges.subarray(at, at + 2), at + 2);
  }
  return ends;
}

/** Compares two points by longitude, then latitude. */
function compare(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number): number {
  return (a[i] as number) - (b[j] as number) || (a[i + 1] as number) - (b[j + 1] as number);
}

/** The corners from west to east. */
function* corners(ends: Float64Array): Generator<Corner> {
  // Half of an end's index in `ends`; an edge starts at the even ones.
  const sorted = Uint32Array.from({ length: ends.length / 2 }, (_, half) => half).sort((a, b) =>
    compare(ends, 2 * a, ends, 2 * b),
  );
  for (let k = 0; k < sorted.length; ) {
    const first = 2 * (sorted[k] as number);
    const starting: number[] = [];
    for (; k < sorted.length && compare(ends, 2 * (sorted[k] as number), ends, first) === 0; k++) {
      const half = sorted[k] as number;
      if (half % 2 === 0) starting.push(half / 2);
    }
    yield { x: ends[first] as number, y: ends[first + 1] as number, starting };
  }
}

/** The edges in the order that hold a point, and their neighbours below and above, or -1. */
function around(order: EdgeOrder, ends: Float64Array, x: number, y: number) {
  const below = order.lastBelow(edge => sideOf(ends, edge, x, y) > 0);
  const held: number[] = [];
  let above = order.next(below);
  for (; above !== -1 && sideOf(ends, above, x, y) === 0; above = order.next(above)) held.push(above);
  return { below, above, held };
}

/** Moves the sweep line over a corner: takes out the edges that end there and puts in those that start. */
function pass(
  order: EdgeOrder,
  ends: Float64Array,
  { x, y, starting }: Corner,
  below: number,
  held: readonly number[],
): void {
  const through = held.filter(edge => ends[4 * edge + 2] !== x || ends[4 * edge + 3] !== y);
  for (const edge of held) if (!through.includes(edge)) order.remove(edge);
  /** Positive where edge `b`, which starts here, runs above edge `a`. */
  const rise = (a: number, b: number) =>
    sideOf(ends, a, ends[4 * b + 2] as number, ends[4 * b + 3] as number);
  // Those that run through lie on one line, or they would cross.
  let isBelow = through.length > 0;
  let position = below;
  for (const edge of starting.sort((a, b) => -rise(a, b))) {
    if (isBelow && rise(through[0] as number, edge) >= 0) {
      isBelow = false;
      position = through.at(-1) as number;
    }
    order.insertAfter(position, edge);
    position = edge;
  }
}

/** Positive where the point lies above an edge, negative below, zero on it. */
function sideOf(ends: Float64Array, edge: number, x: number, y: number): number {
  const at = 4 * edge;
  return orientation(
    ends[at] as number,
    ends[at + 1] as number,
    ends[at + 2] as number,
    ends[at + 3] as number,
    x,
    y,
  );
}

/** The first two of the edges that hold a corner which are not accepted. */
function refusedAmong(
  edges: readonly number[],
  ends: Float64Array,
  { x, y }: Corner,
  accept: (contact: Contact) => boolean,
): Contact | undefined {
  for (let i = 1; i < edges.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [edges[i] as number, edges[j] as number];
      const how = meetingOf(a, b, ends) as Contact['how'];
      const contact = { first: Math.min(a, b), second: Math.max(a, b), how, x, y };
      if (how === 'crossing' || !accept(contact)) return contact;
    }
  }
  return undefined;
}

function meetingOf(a: number, b: number, ends: Float64Array) {
  const [i, j] = [4 * a, 4 * b];
  return meeting(
    ends[i] as number,
    ends[i + 1] as number,
    ends[i + 2] as number,
    ends[i + 3] as number,
    ends[j] as number,
    ends[j + 1] as number,
    ends[j + 2] as number,
    ends[j + 3] as number,
  );
}

function crossingOf(a: number, b: number, ends: Float64Array): Contact | undefined {
  if (a === -1 || b === -1 || meetingOf(a, b, ends) !== 'crossing') return undefined;
  const [ax, ay, bx, by] = ends.subarray(4 * a, 4 * a + 4) as unknown as [number, number, number, number];
  const [cx, cy, dx, dy] = ends.subarray(4 * b, 4 * b + 4) as unknown as [number, number, number, number];
  const part =
    ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / ((bx - ax) * (dy - cy) - (by - ay) * (dx - cx));
  const along = Number.isFinite(part) ? Math.min(1, Math.max(0, part)) : 0;
  const [x, y] = [ax + along * (bx - ax), ay + along * (by - ay)];
  return { first: Math.min(a, b), second: Math.max(a, b), how: 'crossing', x, y };
}
