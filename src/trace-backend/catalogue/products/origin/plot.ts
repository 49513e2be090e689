import { ringArea } from '../../../../geometry/area.ts';
import { readPosition } from '../../../../geometry/position.ts';
import { sweepEdges } from '../../../../geometry/sweep.ts';
import { type Fault, fault } from '../../../../platform/http/reasons/catalogue.ts';

/**
 * Plots of land on a grid of a millionth of a degree (11 cm), which is the precision of the file: the checks of a
 * plot apply to its six decimals.
 */

/** A point, or the one closed ring of a polygon: alternating longitude and latitude in millionths of a degree. */
export interface Plot {
  type: 'Point' | 'Polygon';
  line: number[];
}

/** Receives a fault of a plot; the parameter `field` is its path. */
export type ReportFault = (fault: Fault) => void;

const GRID = 1e6;
/** Maximum width and height of a plot, in millionths of a degree. */
const MAX_EXTENT = 5 * GRID;
/** Maximum positions of a ring. */
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
 * @param report gets the errors
 * @returns undefined if there are errors
 */
export function readPlot(geometry: unknown, path: string, report: ReportFault): Plot | undefined {
  const { type, coordinates } = geometry as { type: Plot['type']; coordinates: unknown };
  const inside = `${path}.coordinates`;
  if (type === 'Point') {
    const line = readOnGrid(coordinates, inside, report);
    return line && { type, line };
  }
  if (!Array.isArray(coordinates) || coordinates.length === 0) {
    report(fault('boundary.no_rings', { field: inside }));
    return undefined;
  }
  if (coordinates.length > 1) {
    report(fault('plot.has_hole', { field: `${inside}.1` }));
    return undefined;
  }
  const line = readRing(coordinates[0], `${inside}.0`, report);
  return line && { type, line };
}

/**
 * Whether a plot's ring neither crosses nor touches itself nor runs back along its own edge, in O(n log n).
 *
 * @param path of the geometry
 * @param report gets the first error
 */
export function checkPlot({ type, line }: Plot, path: string, report: ReportFault): boolean {
  if (type === 'Point') return true;
  const edges = new Float64Array(2 * line.length - 4);
  for (let k = 0; k + 3 < line.length; k += 2) edges.set(line.slice(k, k + 4), 2 * k);
  const last = edges.length / 4 - 1;
  const contact = sweepEdges(edges, ({ first: a, second: b, how }) => {
    const areNeighbours = b - a === 1 || (a === 0 && b === last);
    return areNeighbours && how === 'touching';
  });
  if (!contact) return true;
  const ring = `${path}.coordinates.0`;
  const position = `[${degrees(contact.x)}, ${degrees(contact.y)}]`;
  report(fault('ring.crosses_itself', { field: ring, position }));
  return false;
}

/** The ground of a polygon's plot in m². */
export function plotArea({ line }: Plot): number {
  return ringArea(line.map(value => value / GRID));
}

function readOnGrid(position: unknown, path: string, report: ReportFault): [number, number] | undefined {
  const read = readPosition(position, path);
  if ('fault' in read) {
    report(read.fault);
    return undefined;
  }
  return [onGrid(read[0]), onGrid(read[1])];
}

/** Degrees in millionths. */
export function onGrid(degrees: number): number {
  return Math.round(degrees * GRID);
}

function readRing(ring: unknown, path: string, report: ReportFault): number[] | undefined {
  if (!Array.isArray(ring) || ring.length < 4) {
    report(fault('plot.no_ring', { field: path }));
    return undefined;
  }
  if (ring.length > MAX_POSITIONS) {
    report(fault('plot.ring_too_long', { field: path, max: MAX_POSITIONS }));
    return undefined;
  }
  const line: number[] = [];
  for (const [index, position] of ring.entries()) {
    const read = readOnGrid(position, `${path}.${index}`, report);
    if (!read) return undefined;
    if (line.at(-2) !== read[0] || line.at(-1) !== read[1]) line.push(...read);
  }
  const reason = faultOf(line);
  if (reason !== undefined) {
    report(fault(reason, { field: path }));
    return undefined;
  }
  return plotArea({ type: 'Polygon', line }) > 0 ? line : reversed(line);
}

function reversed(line: readonly number[]): number[] {
  const result: number[] = [];
  for (let k = line.length - 2; k >= 0; k -= 2) result.push(line[k] as number, line[k + 1] as number);
  return result;
}

/** The fault of a ring. */
function faultOf(
  line: readonly number[],
): 'ring.not_closed' | 'plot.too_few_corners' | 'plot.too_wide' | undefined {
  const length = line.length;
  if (line[0] !== line[length - 2] || line[1] !== line[length - 1]) {
    return 'ring.not_closed';
  }
  if (length < 8) return 'plot.too_few_corners';
  for (const axis of [0, 1]) {
    const values = line.filter((_, index) => index % 2 === axis);
    if (Math.max(...values) - Math.min(...values) > MAX_EXTENT) {
      return 'plot.too_wide';
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
