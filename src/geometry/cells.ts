/**
 * S2 cells (s2geometry.io): six faces of a cube around the Earth, each a quadtree of 30 levels whose cells are
 * numbered along a Hilbert curve. Written with plain numbers because the way from a point to its cells is taken
 * by every intake; the libraries go through bigint. The tests hold it to nodes2ts and s2js over the whole sphere.
 */

/** The finest level; its cells measure about one centimetre. */
export const LEAF_LEVEL = 30;
/** The finest level at which `cellIndex` gives a cell as one number; its cells measure about nine metres. */
export const FINE_LEVEL = 20;
/** Cells along one edge of a face at the leaf level. */
export const FACE_SIZE = 2 ** LEAF_LEVEL;

/** The 64 bits of a leaf cell's id, as two unsigned halves: no double holds them together. */
export interface Leaf {
  hi: number;
  lo: number;
}

const SWAP = 1;
const INVERT = 2;
/** Four levels of the Hilbert curve at once: [4 bits of i, 4 bits of j, orientation] → [8 bits of position, orientation]. */
const HILBERT = hilbertTable();
const ZERO = '0'.charCodeAt(0);
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/**
 * The leaf cell of a point. Latitude −90 to 90 and longitude −180 to 180 in degrees; +180 and −180 are two
 * neighbouring cells, as in every S2 library.
 */
export function leafCell(lat: number, lon: number): Leaf {
  const phi = lat * (Math.PI / 180);
  const theta = lon * (Math.PI / 180);
  const cosPhi = Math.cos(phi);
  const x = Math.cos(theta) * cosPhi;
  const y = Math.sin(theta) * cosPhi;
  const z = Math.sin(phi);
  const ax = Math.abs(x);
  const ay = Math.abs(y);
  const az = Math.abs(z);
  if (ax > ay && ax > az) {
    return x < 0 ? leafAt(3, toIndex(z / x), toIndex(y / x)) : leafAt(0, toIndex(y / x), toIndex(z / x));
  }
  if (ax <= ay && ay > az) {
    return y < 0 ? leafAt(4, toIndex(z / y), toIndex(-x / y)) : leafAt(1, toIndex(-x / y), toIndex(z / y));
  }
  return z < 0 ? leafAt(5, toIndex(-y / z), toIndex(-x / z)) : leafAt(2, toIndex(-x / z), toIndex(-y / z));
}

/** The leaf cell at column `i` and row `j`, both 0 to 2^30 − 1, of a face, 0 to 5. */
export function leafAt(face: number, i: number, j: number): Leaf {
  let bits = face & SWAP;
  let high = 0;
  let low = 0;
  for (let shift = 28; shift >= 16; shift -= 4) {
    bits = HILBERT[(((i >> shift) & 15) << 6) | (((j >> shift) & 15) << 2) | bits] as number;
    high = (high << 8) | (bits >> 2);
    bits &= SWAP | INVERT;
  }
  for (let shift = 12; shift >= 0; shift -= 4) {
    bits = HILBERT[(((i >> shift) & 15) << 6) | (((j >> shift) & 15) << 2) | bits] as number;
    low = (low << 8) | (bits >> 2);
    bits &= SWAP | INVERT;
  }
  return { hi: ((face << 29) | (high << 1) | (low >>> 31)) >>> 0, lo: ((low << 1) | 1) >>> 0 };
}

/** The leaf's token: its id in hexadecimal, always 16 digits because the last bit of a leaf is set. */
export function leafToken({ hi, lo }: Leaf): string {
  return bytes(hi) + bytes(lo);
}

/**
 * The number of the leaf's ancestor at `level` (0 to 20) among all cells of that level, in Hilbert order: an
 * integer below 6 · 4^level. Ancestors of one cell are its number divided by powers of four.
 */
export function cellIndex({ hi, lo }: Leaf, level: number): number {
  const fine = hi * 2048 + (lo >>> 21);
  return Math.floor(fine / 4 ** (FINE_LEVEL - level));
}

/** The token of the cell with this number at `level` (0 to 20): its id in hexadecimal without trailing zeros. */
export function cellToken(index: number, level: number): string {
  // The 3 + 2 · 20 leading bits and the marker bit, in 44 of 48 bits; the other twenty bits of the id are zero.
  const id = (2 * index + 1) * 4 ** (FINE_LEVEL - level);
  const token = bytes(Math.floor(id / 2 ** 32)).slice(5) + bytes(id % 2 ** 32);
  let end = token.length;
  while (token.charCodeAt(end - 1) === ZERO) end--;
  return token.slice(0, end);
}

/** (u or v, −1 to 1) → column or row: the quadratic projection, then the count of leaf cells before it. */
function toIndex(u: number): number {
  const s = u >= 0 ? 0.5 * Math.sqrt(1 + 3 * u) : 1 - 0.5 * Math.sqrt(1 - 3 * u);
  const index = Math.floor(FACE_SIZE * s);
  return index < 0 ? 0 : index >= FACE_SIZE ? FACE_SIZE - 1 : index;
}

function bytes(half: number): string {
  return (HEX[half >>> 24] as string) + HEX[(half >>> 16) & 255] + HEX[(half >>> 8) & 255] + HEX[half & 255];
}

function hilbertTable(): Uint16Array {
  const table = new Uint16Array(1024);
  // By orientation and by position along the curve: the quadrant [i, j] as two bits, and how the curve turns in it.
  const quadrant = [
    [0, 1, 3, 2],
    [0, 2, 3, 1],
    [3, 2, 0, 1],
    [3, 1, 0, 2],
  ];
  const turn = [SWAP, 0, 0, SWAP | INVERT];
  const fill = (
    depth: number,
    i: number,
    j: number,
    position: number,
    start: number,
    orientation: number,
  ): void => {
    if (depth === 4) {
      table[(i << 6) | (j << 2) | start] = (position << 2) | orientation;
      return;
    }
    for (let step = 0; step < 4; step++) {
      const cell = (quadrant[orientation] as number[])[step] as number;
      const next = orientation ^ (turn[step] as number);
      fill(depth + 1, (i << 1) | (cell >> 1), (j << 1) | (cell & 1), (position << 2) | step, start, next);
    }
  };
  for (let start = 0; start < 4; start++) fill(0, 0, 0, 0, start, start);
  return table;
}
