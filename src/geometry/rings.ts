import { Problem } from '../platform/http/problems.ts';
import { edgesOf, type Ring } from './ring.ts';
import { type Cutting, type Edge, noteContact, sidesOf } from './sides.ts';
import { type Contact, sweepEdges } from './sweep.ts';

/** Maximum contacts between edges of different rings: two parts that share a side of 5,000 positions have 20,000. */
const MAX_CONTACTS = 20_000;

/**
 * Holds rings to the rules of a polygon (OGC Simple Features 6.1.11): no ring crosses or touches itself, no two rings
 * cross, holes lie inside their shell and outside one another, parts do not overlap. Rings may touch in points. Parts
 * may also share an edge, which the two parts of a boundary on the date line always do; a polygon may not. Takes
 * O(n log n) for n positions.
 *
 * @throws Problem invalid, naming the path of a ring; at the first fault
 */
export function checkRings(rings: readonly Ring[]): void {
  const cutting = checkContacts(rings);
  const parts = Map.groupBy(rings, ({ part }) => part);
  for (const [part, polygon] of parts) {
    checkHoles(polygon, cutting);
    const others = rings.filter(ring => ring.part !== part);
    if (others.length === 0) continue;
    const sides = sidesOf(others, polygon, cutting);
    const overlapping = others.find((_, index) => sides[index] !== 'outside');
    if (overlapping) {
      const other = (polygon[0] as Ring).path;
      throw new Problem('boundary.polygons_overlap', { field: overlapping.path, other });
    }
  }
}

function checkHoles(polygon: readonly Ring[], cutting: Cutting): void {
  const holes = polygon.filter(({ hole }) => hole);
  for (const other of polygon) {
    const compared = holes.filter(hole => hole !== other);
    if (compared.length === 0) continue;
    for (const [index, side] of sidesOf(compared, [other], cutting).entries()) {
      const { path } = compared[index] as Ring;
      if (other.hole && side !== 'outside') {
        throw new Problem('boundary.holes_overlap', { field: path, other: other.path });
      }
      if (!other.hole && side !== 'inside') {
        throw new Problem('boundary.hole_outside', { field: path, other: other.path });
      }
    }
  }
}

/** Refuses what two edges may never do; returns where edges of different rings meet. */
function checkContacts(rings: readonly Ring[]): Cutting {
  const edges = rings.flatMap(ring =>
    Array.from({ length: ring.line.length / 2 - 1 }, (_, index) => edgeAt(ring, 2 * index)),
  );
  const cutting: Cutting = new Map();
  let contacts = 0;
  const refused = sweepEdges(edgesOf(rings), contact => {
    const [edge, other] = [edges[contact.first] as Edge, edges[contact.second] as Edge];
    if (!isAllowed(edge, other, contact.how)) return false;
    if (edge.ring === other.ring) return true;
    contacts++;
    if (contacts > MAX_CONTACTS) {
      throw new Problem('boundary.too_many_contacts', { field: other.ring.path, max: MAX_CONTACTS });
    }
    noteContact(cutting, edge, other, contact.how === 'overlapping');
    return true;
  });
  if (refused) throw faultOf(edges[refused.first] as Edge, edges[refused.second] as Edge, refused);
  return cutting;
}

function edgeAt(ring: Ring, at: number): Edge {
  const { line } = ring;
  return {
    ring,
    at,
    ax: line[at] as number,
    ay: line[at + 1] as number,
    bx: line[at + 2] as number,
    by: line[at + 3] as number,
  };
}

function isAllowed(edge: Edge, other: Edge, how: Contact['how']): boolean {
  if (edge.ring === other.ring) return how === 'touching' && areNeighbours(edge, other);
  if (how !== 'overlapping') return true;
  // Two polygons on either side of a shared edge run along it in opposite directions.
  const against =
    (edge.bx - edge.ax) * (other.bx - other.ax) + (edge.by - edge.ay) * (other.by - other.ay) < 0;
  return edge.ring.part !== other.ring.part && against;
}

function areNeighbours(edge: Edge, other: Edge): boolean {
  const apart = Math.abs(edge.at - other.at);
  return apart === 2 || apart === edge.ring.line.length - 4;
}

function faultOf(edge: Edge, other: Edge, { how, x, y }: Contact): Problem {
  const shown = (degrees: number) => Math.round(degrees * 1e9) / 1e9;
  const position = `[${shown(x > 180 ? x - 360 : x)}, ${shown(y)}]`;
  const field = other.ring.path;
  if (edge.ring === other.ring) return new Problem('ring.crosses_itself', { field, position });
  const reason = how === 'crossing' ? 'ring.crosses_other' : 'ring.overlaps_other';
  return new Problem(reason, { field, other: edge.ring.path, position });
}
