import { createHash, hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { S2CellId, S2LatLng, S2LatLngRect, S2Projections } from 'nodes2ts';
import { cellToken, LEAF_LEVEL, type Leaf, leafCell, leafToken } from '../../../geometry/cells.ts';
import {
  type Bounds,
  type CellSet,
  coverCells,
  coverLeafTokens,
  eachCell,
  rectangle,
  type Square,
} from '../../../geometry/covers.ts';

/** Cells of a field that are hashed in one turn of the event loop, a few milliseconds; the largest has 250,000. */
const TOKENS_AT_ONCE = 10_000;

/** A GeoID: 64 lowercase hexadecimal digits. */
export const GEOID_PATTERN = '^[0-9a-f]{64}$';

const GEOID = new RegExp(GEOID_PATTERN);

/** Whether a value from outside has the form of a GeoID. */
export function isGeoid(value: unknown): value is string {
  return typeof value === 'string' && GEOID.test(value);
}

/** The SHA-256 over S2 cell tokens, concatenated without a separator: the rule behind every GeoID. */
export function geoidOf(tokens: readonly string[]): string {
  return hash('sha256', tokens.join(''), 'hex');
}

/** The GeoID of a point in the built-in registry and AgStack v2: of its leaf cell only. */
export function pointGeoid(leaf: Leaf): string {
  return hash('sha256', leafToken(leaf), 'hex');
}

/**
 * The GeoID of a point in AgStack v1: of the leaf cells whose bounds meet the point. Cells are skewed relative to the
 * meridians, so the bounds of neighbours overlap and about a third of all points have two tokens.
 */
export function pointGeoidV1(lat: number, lon: number): string {
  const box = { south: lat, west: lon, north: lat, east: lon };
  return geoidOf(coverLeafTokens(rectangle(box), startingCells(box, LEAF_LEVEL)));
}

/**
 * The GeoIDs of a field in AgStack v1, by the bounding box of its boundary in degrees: first of the cells of level
 * 13; if another field has that one already, of the cells of level 20.
 */
export async function fieldGeoid(box: Bounds, level: 13 | 20): Promise<string> {
  const cells = coverCells(rectangle(box), level, { within: startingCells(box, level) }) as CellSet;
  const sha256 = createHash('sha256');
  let tokens = '';
  let count = 0;
  for (const index of eachCell(cells)) {
    tokens += cellToken(index, level);
    count++;
    if (count % TOKENS_AT_ONCE > 0) continue;
    sha256.update(tokens);
    tokens = '';
    await setImmediate();
  }
  return sha256.update(tokens).digest('hex');
}

/**
 * The GeoID of a field whose bounding box has no free GeoID left, because two fields of other shapes, such as the
 * halves of a square cut along its diagonals, fill the same box: of the leaf cells of its corners, in order. AgStack
 * v2 uses a random id in this case; this one is deterministic.
 *
 * @param corners longitude and latitude in degrees, one after another
 */
export function cornersGeoid(corners: ArrayLike<number>): string {
  const tokens: string[] = [];
  for (let k = 0; k + 1 < corners.length; k += 2) {
    tokens.push(leafToken(leafCell(corners[k + 1] as number, corners[k] as number)));
  }
  return geoidOf(tokens);
}

/**
 * The few cells in which S2's region coverer begins: those around a corner next to the middle of the box, of a level
 * at which they cover it. They are part of a GeoID, because bounds reach beyond their cells: for about one small
 * field in five hundred a cell outside them would meet the box too. The descent from there is implemented here,
 * because the library's takes seconds for the 50,000 cells of a large field.
 */
function startingCells({ south, west, north, east }: Bounds, level: number): Square[] {
  const box = S2LatLngRect.fromPointPair(
    S2LatLng.fromDegrees(south, west),
    S2LatLng.fromDegrees(north, east),
  );
  const cap = box.getCapBound();
  const from = Math.min(S2Projections.MIN_WIDTH.getMaxLevel(2 * cap.angle().radians), level, LEAF_LEVEL - 1);
  const size = 2 ** (LEAF_LEVEL - from);
  const cells =
    from === 0
      ? [0, 1, 2, 3, 4, 5].map(S2CellId.fromFace)
      : S2CellId.fromPoint(cap.axis).getVertexNeighbors(from);
  return cells.map(cell => {
    const at = cell.toIJOrientation();
    return { face: cell.face, i: S2CellId.getI(at) & -size, j: S2CellId.getJ(at) & -size, size };
  });
}
