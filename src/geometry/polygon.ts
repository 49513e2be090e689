import type { Bounds, Region } from './covers.ts';
import { isBetween, orientation } from './predicates.ts';

/**
 * The ground inside a boundary, in a plane of longitude and latitude in degrees where an edge is a straight line,
 * as RFC 7946 §3.1.1 has it. Longitudes run on past 180 where the ground crosses the date line, so that
 * west ≤ east < west + 360.
 */
export interface Ground {
  /** Every edge of every ring: [lon, lat, lon, lat] of its ends, one after another, in the order of the rings. */
  edges: Float64Array;
  bounds: Bounds;
  areaM2: number;
}

/**
 * Whether the ground holds a point given in degrees. The boundary belongs to it, that of a hole too, and the
 * decision is exact: two fields that share a fence both hold every point of the fence, and no point between them
 * is lost. (A half-open rule would give a fence to one side by its compass direction, which nobody could predict.)
 */
export function contains(ground: Ground, lat: number, lon: number): boolean {
  const { south, west, north, east } = ground.bounds;
  if (lat < south || lat > north) return false;
  return [lon, lon + 360, lon - 360].some(x => x >= west && x <= east && planeContains(ground.edges, x, lat));
}

/** Ray casting towards the east, over all rings at once: holes and parts come out right by parity. */
function planeContains(edges: Float64Array, x: number, y: number): boolean {
  let inside = false;
  for (let k = 0; k < edges.length; k += 4) {
    const ay = edges[k + 1] as number;
    const by = edges[k + 3] as number;
    if ((ay < y && by < y) || (ay > y && by > y)) continue;
    const ax = edges[k] as number;
    const bx = edges[k + 2] as number;
    if (ax < x && bx < x) continue;
    const side = ax > x && bx > x ? undefined : orientation(ax, ay, bx, by, x, y);
    if (side === 0 && isBetween(ax, ay, bx, by, x, y)) return true;
    // An edge counts from its lower end up to but without its upper end, so that a ray through a corner counts once.
    if (ay > y === by > y) continue;
    if (side === undefined || side > 0 === by > ay) inside = !inside;
  }
  return inside;
}

/** A point inside the ground and not on its boundary, near the middle of its height: [lon, lat] in degrees. */
export function interiorPoint({ edges, bounds }: Ground): [lon: number, lat: number] {
  const y = quietLatitude(edges, (bounds.south + bounds.north) / 2);
  const crossings: number[] = [];
  for (let k = 0; k < edges.length; k += 4) {
    const [ax, ay, bx, by] = edges.subarray(k, k + 4) as unknown as [number, number, number, number];
    if (ay > y !== by > y) crossings.push(ax + ((y - ay) / (by - ay)) * (bx - ax));
  }
  crossings.sort((a, b) => a - b);
  // Ground thinner than rounding may have no crossings; its first corner belongs to it.
  let [from, to] = [crossings[0] ?? edges[0] ?? 0, crossings[1] ?? edges[0] ?? 0];
  for (let k = 2; k + 1 < crossings.length; k += 2) {
    const [a, b] = [crossings[k] as number, crossings[k + 1] as number];
    if (b - a > to - from) [from, to] = [a, b];
  }
  const x = (from + to) / 2;
  return [x >= 180 ? x - 360 : x, y];
}

/** A latitude next to `middle` on which no corner lies: half way between the corners above and below it. */
function quietLatitude(edges: Float64Array, middle: number): number {
  let below = -Infinity;
  let above = Infinity;
  for (let k = 1; k < edges.length; k += 2) {
    const y = edges[k] as number;
    if (y <= middle) below = Math.max(below, y);
    else above = Math.min(above, y);
  }
  return (below + above) / 2;
}

/** Degrees by which cells are widened when they meet a ground: a tenth of a millimetre, far above all rounding. */
const MARGIN = 1e-9;
const DEGREES = 180 / Math.PI;

/** State on the way down to a cell: the edges that meet the surrounding cell, and one point of it. */
interface Descent {
  edges: readonly number[];
  x: number;
  y: number;
  inside: boolean;
}

/**
 * The ground as a region that cells can cover. A cell, taken as its bounding rectangle, is outside or inside when no
 * edge meets it; which of the two follows from the point at hand and the edges on the way from it to the cell's middle.
 * That way only the edges next to a cell are checked, however many others there are.
 */
export function groundRegion({ edges, bounds }: Ground): Region<Descent> {
  const all = Array.from({ length: edges.length / 4 }, (_, edge) => 4 * edge);
  return {
    start: { edges: all, x: bounds.west - 1, y: bounds.south - 1, inside: false },
    meet(cell, descent) {
      const south = cell.south * DEGREES - MARGIN;
      const north = cell.north * DEGREES + MARGIN;
      if (south > bounds.north || north < bounds.south) return 'outside';
      // So wide a cell may meet the ground from both sides; a boundary is never that wide.
      if (cell.east - cell.west > 2) return descent;
      for (let turn = -360; turn <= 360; turn += 360) {
        const west = cell.west * DEGREES - MARGIN + turn;
        const east = cell.east * DEGREES + MARGIN + turn;
        if (west <= bounds.east && east >= bounds.west) {
          return meetEdges(edges, { south, west, north, east }, descent);
        }
      }
      return 'outside';
    },
  };
}

function meetEdges(edges: Float64Array, cell: Bounds, descent: Descent): Descent | 'outside' | 'inside' {
  const x = (cell.west + cell.east) / 2;
  const y = (cell.south + cell.north) / 2;
  const left: number[] = [];
  let inside = descent.inside;
  for (const k of descent.edges) {
    const ax = edges[k] as number;
    const ay = edges[k + 1] as number;
    const bx = edges[k + 2] as number;
    const by = edges[k + 3] as number;
    // From the point at hand along its latitude to the middle's longitude, then along that to the middle.
    if (ay > descent.y !== by > descent.y) {
      const crossing = ax + ((descent.y - ay) / (by - ay)) * (bx - ax);
      if (crossing > descent.x !== crossing > x) inside = !inside;
    }
    if (ax > x !== bx > x) {
      const crossing = ay + ((x - ax) / (bx - ax)) * (by - ay);
      if (crossing > descent.y !== crossing > y) inside = !inside;
    }
    if ((ay < cell.south && by < cell.south) || (ay > cell.north && by > cell.north)) continue;
    if ((ax < cell.west && bx < cell.west) || (ax > cell.east && bx > cell.east)) continue;
    if (lineMeets(cell, ax, ay, bx, by)) left.push(k);
  }
  if (left.length > 0) return { edges: left, x, y, inside };
  return inside ? 'inside' : 'outside';
}

/** Whether the line through a and b leaves corners of the rectangle on both sides, or one on itself. */
function lineMeets(
  { south, west, north, east }: Bounds,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): boolean {
  const dx = bx - ax;
  const dy = by - ay;
  const sw = dx * (south - ay) - dy * (west - ax);
  const se = dx * (south - ay) - dy * (east - ax);
  const nw = dx * (north - ay) - dy * (west - ax);
  const ne = dx * (north - ay) - dy * (east - ax);
  return !((sw > 0 && se > 0 && nw > 0 && ne > 0) || (sw < 0 && se < 0 && nw < 0 && ne < 0));
}
