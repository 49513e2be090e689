import { orient2d } from 'robust-predicates';

/** How many sides of lines were decided in this process: what the cost of an algorithm is measured by. */
export const decided = { sides: 0 };

/**
 * Unless one of the coordinates is below this size, no product in robust-predicates underflows: all of them are multiples of
 * (2^-480 · 2^-52)^2, which a double holds.
 */
const TINY = 2 ** -480;

/**
 * On which side of the directed line from a to b the point c lies: positive to the left, negative to the right,
 * zero exactly on the line. Exact for all coordinates whose products do not overflow.
 */
export function orientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  decided.sides++;
  const side = 0 - orient2d(ax, ay, bx, by, cx, cy);
  // The errors of products that underflowed cannot turn the sign of a larger result.
  if (Math.abs(side) > 2 ** -1000) return side;
  if (![ax, ay, bx, by, cx, cy].some(value => value !== 0 && Math.abs(value) < TINY)) return side;
  const [x, y] = [exact(cx), exact(cy)];
  const area = (exact(ax) - x) * (exact(by) - y) - (exact(ay) - y) * (exact(bx) - x);
  return area > 0n ? 1 : area < 0n ? -1 : 0;
}

const bits = new DataView(new ArrayBuffer(8));

/** A finite double times 2^1074, which is an integer because 2^−1074 is the smallest double. */
function exact(value: number): bigint {
  bits.setFloat64(0, value);
  const word = bits.getBigUint64(0);
  const exponent = Number((word >> 52n) & 0x7ffn);
  const fraction = word & 0xfffffffffffffn;
  const magnitude = exponent === 0 ? fraction : (fraction | 0x10000000000000n) << BigInt(exponent - 1);
  return value < 0 ? -magnitude : magnitude;
}

/** Whether c, a point on the line through a and b, lies between them or on one of them. */
export function isBetween(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): boolean {
  return Math.min(ax, bx) <= cx && cx <= Math.max(ax, bx) && Math.min(ay, by) <= cy && cy <= Math.max(ay, by);
}

/**
 * How the closed segments a–b and c–d meet: not at all, crossing at a point inside both, touching at one point that
 * is an end of at least one, or sharing more than a point along one line.
 */
export function meeting(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): 'apart' | 'crossing' | 'touching' | 'overlapping' {
  const c = orientation(ax, ay, bx, by, cx, cy);
  const d = orientation(ax, ay, bx, by, dx, dy);
  if (c === 0 && d === 0) return alongOneLine(ax, ay, bx, by, cx, cy, dx, dy);
  if ((c > 0 && d > 0) || (c < 0 && d < 0)) return 'apart';
  const a = orientation(cx, cy, dx, dy, ax, ay);
  const b = orientation(cx, cy, dx, dy, bx, by);
  if ((a > 0 && b > 0) || (a < 0 && b < 0)) return 'apart';
  return a === 0 || b === 0 || c === 0 || d === 0 ? 'touching' : 'crossing';
}

function alongOneLine(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): 'apart' | 'touching' | 'overlapping' {
  // The line is upright where x does not tell its points apart.
  const upright = ax === bx;
  const [a, b, c, d] = upright ? [ay, by, cy, dy] : [ax, bx, cx, dx];
  const start = Math.max(Math.min(a, b), Math.min(c, d));
  const end = Math.min(Math.max(a, b), Math.max(c, d));
  return start > end ? 'apart' : start === end ? 'touching' : 'overlapping';
}
