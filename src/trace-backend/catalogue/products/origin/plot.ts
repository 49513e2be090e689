import { ringArea } from '../../../../geometry/area.ts';
import { readPosition } from '../../../../geometry/position.ts';
import { sweepEdges } from '../../../../geometry/sweep.ts';
import { textOf } from '../../../../platform/http/reasons/catalogue.ts';

/**
 * Plots of land on a grid of a millionth of a degree (11 cm), which is the precision of the file: the checks of a
 * plot apply to its six decimals.
 */

/** A point, or the one closed ring of a polygon: alternating longitude and latitude in millionths of a degree. */
export interface Plot {
  type: 'Point' | 'Polygon';
  line: number[];
}

/** Records an error of the field at a path. */
export type Complain = (path: string, sentence: string) => void;

const GRID = 1e6;
/** From one side of a plot to the other, in millionths of a degree. */
const MAX_EXTENT = 5 * GRID;
/** Positions of a ring, at most. */
const MAX_POSITIONS = 2000;

/** The number of positions of a geometry, even if it is invalid. */
export function countPositions(geometry: unknown): number {
  const { type, coordinates } = geometry as { type: Plot['type']; coordinates: unknown };
  if (type === 'Point' || !Array.isArray(coordinates)) return 1;
  return coordinates.reduce((sum: number, ring) => sum + (Array.isArray(ring) ? ring.length : 1), 0);
}

/**
 * Reads a GeoJSON Point or Polygon (RFC 7946 §3.1) as a plot: one closed ring without holes that encloses some ground
 * and does not cross the date line. Repeated positions are removed; altitudes are ignored; the resulting ring is
 * counter-clockwise. `checkPlot` checks for self-intersection.
 *
 * @param complain gets the errors
 * @returns undefined if there are errors
 */
export function readPlot(geometry: unknown, path: string, complain: Complain): Plot | undefined {
  const { type, coordinates } = geometry as { type: Plot['type']; coordinates: unknown };
  const inside = `${path}.coordinates`;
  if (type === 'Point') {
    const line = readOnGrid(coordinates, inside, complain);
    return line && { type, line };
  }
  if (!Array.isArray(coordinates) || coordinates.length === 0) {
    complain(inside, `${inside} must be an array of rings`);
    return undefined;
  }
  if (coordinates.length > 1) {
    complain(`${inside}.1`, `${inside}.1 is a hole, which a plot cannot have: draw two plots around it`);
    return undefined;
  }
  const line = readRing(coordinates[0], `${inside}.0`, complain);
  return line && { type, line };
}

/**
 * Whether a plot's ring neither crosses nor touches itself nor runs back along its own edge, in O(n log n).
 *
 * @param path of the geometry
 * @param complain gets the first error
 */
export function checkPlot({ type, line }: Plot, path: string, complain: Complain): boolean {
  if (type === 'Point') return true;
  const edges = new Float64Array(2 * line.length - 4);
  for (let k = 0; k + 3 < line.length; k += 2) edges.set(line.slice(k, k + 4), 2 * k);
  const last = edges.length / 4 - 1;
  const contact = sweepEdges(edges, ({ one, other, how }) => {
    const areNeighbours = other - one === 1 || (one === 0 && other === last);
    return areNeighbours && how === 'touching';
  });
  if (!contact) return true;
  const ring = `${path}.coordinates.0`;
  const { x, y } = contact;
  complain(ring, `${ring}: the ring crosses or touches itself near [${degrees(x)}, ${degrees(y)}]`);
  return false;
}

/** The ground of a polygon's plot in m². */
export function plotArea({ line }: Plot): number {
  return ringArea(line.map(value => value / GRID));
}

function readOnGrid(position: unknown, path: string, complain: Complain): [number, number] | undefined {
  const read = readPosition(position, path);
  if ('fault' in read) {
    complain(path, textOf(read.fault));
    return undefined;
  }
  return [onGrid(read[0]), onGrid(read[1])];
}

/** Degrees in millionths. */
export function onGrid(degrees: number): number {
  return Math.round(degrees * GRID);
}

function readRing(ring: unknown, path: string, complain: Complain): number[] | undefined {
  if (!Array.isArray(ring) || ring.length < 4) {
    complain(path, `${path} must be a ring of four positions or more, the last one the first again`);
    return undefined;
  }
  if (ring.length > MAX_POSITIONS) {
    complain(path, `${path} has more than ${MAX_POSITIONS} positions`);
    return undefined;
  }
  const line: number[] = [];
  for (const [index, position] of ring.entries()) {
    const read = readOnGrid(position, `${path}.${index}`, complain);
    if (!read) return undefined;
    if (line.at(-2) !== read[0] || line.at(-1) !== read[1]) line.push(...read);
  }
  const wrong = faultOf(line);
  if (wrong !== undefined) {
    complain(path, `${path}: ${wrong}`);
    return undefined;
  }
  return plotArea({ type: 'Polygon', line }) > 0 ? line : backwards(line);
}

function backwards(line: readonly number[]): number[] {
  const turned: number[] = [];
  for (let k = line.length - 2; k >= 0; k -= 2) turned.push(line[k] as number, line[k + 1] as number);
  return turned;
}

/** The error of a ring, as a sentence that follows its path. */
function faultOf(line: readonly number[]): string | undefined {
  const length = line.length;
  if (line[0] !== line[length - 2] || line[1] !== line[length - 1]) {
    return 'the ring is not closed, its last position must be the first again';
  }
  if (length < 8) return 'the ring has fewer than three different corners on six decimals';
  for (const axis of [0, 1]) {
    const values = line.filter((_, index) => index % 2 === axis);
    if (Math.max(...values) - Math.min(...values) > MAX_EXTENT) {
      return 'a plot is at most 5° wide and high, and is cut in two where it crosses the date line';
    }
  }
  return undefined;
}

/** Millionths as degrees with six decimals. */
function degrees(value: number): string {
  return (value / GRID).toFixed(6);
}

/** A plot as GeoJSON text: numbers in JavaScript would lose the zeros at the end of six decimals. */
export function plotText({ type, line }: Plot): string {
  const positions: string[] = [];
  for (let k = 0; k < line.length; k += 2) {
    positions.push(`[${degrees(line[k] as number)},${degrees(line[k + 1] as number)}]`);
  }
  const coordinates = type === 'Point' ? positions[0] : `[[${positions.join(',')}]]`;
  return `{"type":"${type}","coordinates":${coordinates}}`;
}
