/**
 * Geometric decisions on plane points that are exact for every double: computed in floating point, and where the
 * rounding error could decide the sign, computed again with what was lost, or in integers.
 */

/** Shewchuk, "Adaptive Precision Floating-Point Arithmetic" (1997), orient2d: the bound on the first estimate. */
const ERROR_BOUND = (3 + 16 * 2 ** -53) * 2 ** -53;

/** How many sides of lines were decided in this process: what the cost of an algorithm is measured by. */
export const decided = { sides: 0 };

/**
 * On which side of the directed line from a to b the point c lies: positive to the left, negative to the right,
 * zero exactly on the line.
 */
export function orientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  decided.sides++;
  const [acx, acy, bcx, bcy] = [ax - cx, ay - cy, bx - cx, by - cy];
  // Differences are zero only where they truly are, so corners and upright or level lines need no more thought.
  if ((acx === 0 || bcy === 0) && (acy === 0 || bcx === 0)) return 0;
  const left = acx * bcy;
  const right = acy * bcx;
  const area = left - right;
  const doubt = ERROR_BOUND * (Math.abs(left) + Math.abs(right));
  // So small a doubt may come of products that underflowed and is not to be trusted.
  if (doubt > 2 ** -1000) {
    if (Math.abs(area) > doubt) return area;
    if (isExact(ax, cx, acx) && isExact(ay, cy, acy) && isExact(bx, cx, bcx) && isExact(by, cy, bcy)) {
      return differenceOfProducts(acx, bcy, acy, bcx);
    }
  }
  return exactOrientation(ax, ay, bx, by, cx, cy);
}

/** Whether a difference was not rounded (Knuth's TwoDiff). Between points near each other it hardly ever is. */
function isExact(a: number, b: number, difference: number): boolean {
  return tailOfDifference(a, b, difference) === 0;
}

function tailOfDifference(a: number, b: number, difference: number): number {
  const virtual = a - difference;
  return a - (difference + virtual) + (virtual - b);
}

function tailOfSum(a: number, b: number, sum: number): number {
  const virtual = sum - a;
  return a - (sum - virtual) + (b - virtual);
}

/** The rounding error of a product (Dekker and Veltkamp; Shewchuk, theorem 18). */
function tailOfProduct(a: number, b: number, product: number): number {
  const [highA, highB] = [134_217_729 * a, 134_217_729 * b];
  const aHigh = highA - (highA - a);
  const bHigh = highB - (highB - b);
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

/** A number with the sign of a · b − c · d without rounding (Shewchuk, Two_Two_Diff). */
function differenceOfProducts(a: number, b: number, c: number, d: number): number {
  const [left, right] = [a * b, c * d];
  const [leftTail, rightTail] = [tailOfProduct(a, b, left), tailOfProduct(c, d, right)];
  const low = leftTail - rightTail;
  const sum = left + low;
  const rest = tailOfSum(left, low, sum);
  const middle = rest - right;
  const high = sum + middle;
  return (
    high ||
    tailOfSum(sum, middle, high) ||
    tailOfDifference(rest, right, middle) ||
    tailOfDifference(leftTail, rightTail, low)
  );
}

function exactOrientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const scale = scaleToIntegers([ax, ay, bx, by, cx, cy]);
  const [x, y] = [scale(cx), scale(cy)];
  const area = (scale(ax) - x) * (scale(by) - y) - (scale(ay) - y) * (scale(bx) - x);
  return area > 0n ? 1 : area < 0n ? -1 : 0;
}

/** Scales finite doubles to integers by one factor: the smaller it is, the faster they multiply. */
function scaleToIntegers(values: readonly number[]): (value: number) => bigint {
  const least = Math.min(...values.filter(value => value !== 0).map(exponentOf));
  // Not beyond what a double holds.
  if (least > -900 && Math.max(...values.map(Math.abs)) < 2 ** 60) {
    const factor = 2 ** (52 - least);
    return value => BigInt(value * factor);
  }
  return exact;
}

const bits = new DataView(new ArrayBuffer(8));

/** The power of two below a double that is not zero. */
function exponentOf(value: number): number {
  bits.setFloat64(0, value);
  return ((bits.getUint16(0) >> 4) & 0x7ff) - 1023;
}

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
