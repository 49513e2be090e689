import { cellIndex, FACE_SIZE, LEAF_LEVEL, leafAt, leafToken } from './cells.ts';

/** A rectangle of latitudes and longitudes, in the unit its user names. East is not below west: it goes past 180°. */
export interface Bounds {
  south: number;
  west: number;
  north: number;
  east: number;
}

/** A cell of any level as the square of its leaf cells: their first column and row on a face, and how many along. */
export interface Square {
  face: number;
  i: number;
  j: number;
  size: number;
}

/** Cells of one level as sorted, disjoint runs of their numbers: `runs[2k]` up to but without `runs[2k + 1]`. */
export interface CellSet {
  level: number;
  runs: number[];
  count: number;
}

/**
 * Something that cells can meet. `meet` gets the bounds of a cell, in radians, and what `meet` answered for the
 * cell around it: 'outside' when the two have no point in common, 'inside' when the region holds the whole cell,
 * otherwise whatever spares work on the cells within this one.
 */
export interface Region<State> {
  start: State;
  meet(cell: Bounds, state: State): State | 'outside' | 'inside';
}

const FACES: readonly Square[] = [0, 1, 2, 3, 4, 5].map(face => ({ face, i: 0, j: 0, size: FACE_SIZE }));

/** How far S2 widens a cell's bounds so that they hold every point of the cell after rounding, in radians. */
const ROUNDING = 2 ** -51;

/**
 * All cells of `level` (0 to 20) inside the squares `within` whose bounds meet the region, or undefined when there
 * are more than `limit`. A cell counts by its bounding rectangle, as S2LatLngRect::MayIntersect decides it and with
 * it the registry.
 */
export function coverCells<State>(
  region: Region<State>,
  level: number,
  { within = FACES, limit = Infinity }: { within?: readonly Square[]; limit?: number } = {},
): CellSet | undefined {
  const ranges: [start: number, end: number][] = [];
  let count = 0;
  descend(region, level, within, ({ face, i, j, size }) => {
    const span = 4 ** (level - (LEAF_LEVEL - Math.log2(size)));
    const inside = cellIndex(leafAt(face, i, j), level);
    const start = inside - (inside % span);
    ranges.push([start, start + span]);
    count += span;
    return count <= limit;
  });
  if (count > limit) return undefined;
  ranges.sort(([a], [b]) => a - b);
  const runs: number[] = [];
  for (const [start, end] of ranges) {
    if (runs.at(-1) === start) runs[runs.length - 1] = end;
    else runs.push(start, end);
  }
  return { level, runs, count };
}

/** The tokens of all leaf cells within the squares whose bounds meet the region, ascending. It must be tiny. */
export function coverLeafTokens<State>(region: Region<State>, within: readonly Square[]): string[] {
  const tokens: string[] = [];
  descend(region, LEAF_LEVEL, within, ({ face, i, j }) => {
    tokens.push(leafToken(leafAt(face, i, j)));
    return true;
  });
  return tokens.sort();
}

/** The numbers of the cells of a set, ascending. */
export function* eachCell({ runs }: CellSet): Generator<number> {
  for (let run = 0; run < runs.length; run += 2) {
    for (let index = runs[run] as number; index < (runs[run + 1] as number); index++) yield index;
  }
}

/** The Jaccard index of two sets of cells of one level: what they share, divided by what they hold together. */
export function jaccard(a: CellSet, b: CellSet): number {
  let shared = 0;
  let k = 0;
  let m = 0;
  while (k < a.runs.length && m < b.runs.length) {
    const start = Math.max(a.runs[k] as number, b.runs[m] as number);
    const endA = a.runs[k + 1] as number;
    const endB = b.runs[m + 1] as number;
    shared += Math.max(0, Math.min(endA, endB) - start);
    if (endA < endB) k += 2;
    else m += 2;
  }
  return shared / (a.count + b.count - shared);
}

/** The region of a rectangle given in degrees, west from −180 to 180. */
export function rectangle({ south, west, north, east }: Bounds): Region<undefined> {
  const [s, w, n, e] = [south, west, north, east].map(degrees => degrees * (Math.PI / 180)) as [
    number,
    number,
    number,
    number,
  ];
  return {
    start: undefined,
    meet(cell) {
      if (cell.south > n || cell.north < s) return 'outside';
      for (let turn = -2 * Math.PI; turn <= 2 * Math.PI; turn += 2 * Math.PI) {
        if (cell.west + turn > e || cell.east + turn < w) continue;
        const within = cell.south >= s && cell.north <= n && cell.west + turn >= w && cell.east + turn <= e;
        return within ? 'inside' : undefined;
      }
      return 'outside';
    },
  };
}

/** Emits the cells of `level` that meet the region, those wholly inside as larger cells, until `emit` says false. */
function descend<State>(
  region: Region<State>,
  level: number,
  within: readonly Square[],
  emit: (square: Square) => boolean,
): void {
  const last = FACE_SIZE / 2 ** level;
  const visit = (square: Square, state: State): boolean => {
    const { face, i, j, size } = square;
    // The edges of a whole face bulge beyond its corners, so the test begins one level below.
    const met = size === FACE_SIZE ? state : region.meet(cellBounds(square), state);
    if (met === 'outside') return true;
    if (met === 'inside' || size === last) return emit(square);
    const half = size / 2;
    return (
      visit({ face, i, j, size: half }, met) &&
      visit({ face, i: i + half, j, size: half }, met) &&
      visit({ face, i, j: j + half, size: half }, met) &&
      visit({ face, i: i + half, j: j + half, size: half }, met)
    );
  };
  within.every(square => visit(square, region.start));
}

/**
 * The rectangle around a cell of level 1 or finer, in radians, widened for rounding as S2Cell::GetRectBound does.
 * Below level 0 no edge of a cell reaches further north, south, east or west than its ends; a cell at a pole has
 * every longitude.
 */
function cellBounds({ face, i, j, size }: Square): Bounds {
  const u0 = toU(i);
  const u1 = toU(i + size);
  const v0 = toU(j);
  const v1 = toU(j + size);
  const bounds = { south: Infinity, west: Infinity, north: -Infinity, east: -Infinity };
  const near = longitude(face, u0, v0);
  widen(bounds, face, u0, v0, near);
  widen(bounds, face, u1, v0, near);
  widen(bounds, face, u0, v1, near);
  widen(bounds, face, u1, v1, near);
  bounds.south -= ROUNDING;
  bounds.north += ROUNDING;
  bounds.west -= ROUNDING;
  bounds.east += ROUNDING;
  if (bounds.south <= -Math.PI / 2 || bounds.north >= Math.PI / 2) {
    bounds.west = -Math.PI;
    bounds.east = Math.PI;
  }
  return bounds;
}

function widen(bounds: Bounds, face: number, u: number, v: number, near: number): void {
  const lat = latitude(face, u, v);
  let lon = longitude(face, u, v);
  if (lon - near > Math.PI) lon -= 2 * Math.PI;
  else if (near - lon > Math.PI) lon += 2 * Math.PI;
  bounds.south = Math.min(bounds.south, lat);
  bounds.north = Math.max(bounds.north, lat);
  bounds.west = Math.min(bounds.west, lon);
  bounds.east = Math.max(bounds.east, lon);
}

/** Column or row → (u or v, −1 to 1): the inverse of the quadratic projection. */
function toU(index: number): number {
  const s = index / FACE_SIZE;
  return s >= 0.5 ? (1 / 3) * (4 * s * s - 1) : (1 / 3) * (1 - 4 * (1 - s) * (1 - s));
}

// A point (u, v) of the faces 0 to 5 lies in the direction (1, u, v), (−u, 1, v), (−u, −v, 1), (−1, −v, −u),
// (v, −1, −u), (v, u, −1).

function latitude(face: number, u: number, v: number): number {
  if (face === 2 || face === 5) return Math.atan2(face === 2 ? 1 : -1, Math.sqrt(u * u + v * v));
  const [across, up] = face < 2 ? [u, v] : [v, -u];
  return Math.atan2(up, Math.sqrt(1 + across * across));
}

function longitude(face: number, u: number, v: number): number {
  switch (face) {
    case 0:
      return Math.atan2(u, 1);
    case 1:
      return Math.atan2(1, -u);
    case 2:
      return Math.atan2(-v, -u);
    case 3:
      return Math.atan2(-v, -1);
    case 4:
      return Math.atan2(-1, v);
    default:
      return Math.atan2(u, v);
  }
}
