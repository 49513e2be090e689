/**
 * Plots of land on a grid of a millionth of a degree (11 cm), which is what is written down in the end: whatever is
 * found out about a plot holds for its six decimals. On this grid and within MAX_EXTENT every decision below is made
 * in whole numbers that a double holds, so none depends on rounding.
 */

/** A point, or the one closed ring of a polygon: longitude and latitude in millionths of a degree, by turns. */
export interface Plot {
  type: 'Point' | 'Polygon';
  line: number[];
}

/** Takes note of what is wrong with the field at a path. */
export type Complain = (path: string, sentence: string) => void;

const GRID = 1e6;
/** From one side of a plot to the other, in millionths of a degree; a product of two such lengths is exact. */
const MAX_EXTENT = 5 * GRID;
/** Positions of a ring: what two of these rings' edges could cost when each is compared with each is bounded. */
const MAX_POSITIONS = 2000;

/**
 * Reads a GeoJSON Point or Polygon (RFC 7946 §3.1) as a plot: one ring without holes that is closed and neither crosses
 * nor touches itself, encloses some ground and does not cross the date line. Positions that repeat the one before are
 * left out; altitudes are not used; the ring runs counter-clockwise afterwards.
 *
 * @param complain is told what is wrong
 * @returns undefined when something is
 */
export function readPlot(geometry: unknown, path: string, complain: Complain): Plot | undefined {
  const { type, coordinates } = geometry as { type: Plot['type']; coordinates: unknown };
  const inside = `${path}.coordinates`;
  if (type === 'Point') {
    const line = readPosition(coordinates, inside, complain);
    return line && { type, line };
  }
  if (!Array.isArray(coordinates) || coordinates.length === 0) {
    complain(inside, `${inside} must be an array of rings`);
    return undefined;
  }
  if (coordinates.length > 1) {
    complain(
      `${inside}.1`,
      `${inside}.1 is a hole; a plot has none: draw it as two plots around what is left out`,
    );
    return undefined;
  }
  const line = readRing(coordinates[0], `${inside}.0`, complain);
  return line && { type, line };
}

function readPosition(position: unknown, path: string, complain: Complain): [number, number] | undefined {
  const isPosition =
    Array.isArray(position) && /^[23]$/.test(`${position.length}`) && position.every(Number.isFinite);
  if (!isPosition) {
    complain(path, `${path} must be a position: [longitude, latitude] in degrees`);
    return undefined;
  }
  const [lon, lat] = position as [number, number];
  if (Math.abs(lon) > 180 || Math.abs(lat) > 90) {
    complain(
      path,
      `${path}: the longitude is between -180 and 180, and the latitude, which is second, -90 and 90`,
    );
    return undefined;
  }
  return [onGrid(lon), onGrid(lat)];
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
  const positions: [number, number][] = [];
  for (const [index, position] of ring.entries()) {
    const read = readPosition(position, `${path}.${index}`, complain);
    if (!read) return undefined;
    const last = positions.at(-1);
    if (last?.[0] !== read[0] || last[1] !== read[1]) positions.push(read);
  }
  const line = positions.flat();
  const wrong = faultOf(line);
  if (wrong !== undefined) complain(path, `${path}: ${wrong}`);
  if (wrong !== undefined) return undefined;
  return ringArea(line) > 0 ? line : positions.toReversed().flat();
}

/** What is wrong with a ring, in words that follow its path. */
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
  const at = selfContact(line);
  return at && `the ring crosses or touches itself near [${degrees(at[0])}, ${degrees(at[1])}]`;
}

interface Edge {
  index: number;
  ax: number;
  ay: number;
  bx: number;
  by: number;
}

/**
 * Where a closed ring crosses or touches itself, or runs back along its own edge: a sweep from west to east that
 * compares the edges whose boxes meet.
 */
export function selfContact(line: readonly number[]): [lon: number, lat: number] | undefined {
  const count = line.length / 2 - 1;
  const edges = Array.from({ length: count }, (_, index): Edge => {
    const [ax, ay, bx, by] = line.slice(2 * index, 2 * index + 4) as [number, number, number, number];
    return { index, ax, ay, bx, by };
  });
  edges.sort((a, b) => Math.min(a.ax, a.bx) - Math.min(b.ax, b.bx));
  let open: Edge[] = [];
  for (const edge of edges) {
    const west = Math.min(edge.ax, edge.bx);
    open = open.filter(({ ax, bx }) => Math.max(ax, bx) >= west);
    const hit = open.find(other => areInContact(edge, other, count));
    if (hit) return [edge.ax, edge.ay];
    open.push(edge);
  }
  return undefined;
}

function areInContact(one: Edge, other: Edge, count: number): boolean {
  const apart = (one.index - other.index + count) % count;
  if (apart === 1) return runsBack(other, one);
  if (apart === count - 1) return runsBack(one, other);
  if (Math.max(one.ay, one.by) < Math.min(other.ay, other.by)) return false;
  if (Math.max(other.ay, other.by) < Math.min(one.ay, one.by)) return false;
  const c = side(one, other.ax, other.ay);
  const d = side(one, other.bx, other.by);
  const a = side(other, one.ax, one.ay);
  const b = side(other, one.bx, one.by);
  // On one line, with boxes that meet, they share a point; otherwise each has to have the other's ends on both sides.
  return c * d <= 0 && a * b <= 0;
}

/** Whether an edge goes back along the one before it. */
function runsBack(one: Edge, next: Edge): boolean {
  const ahead = (one.bx - one.ax) * (next.bx - next.ax) + (one.by - one.ay) * (next.by - next.ay);
  return side(one, next.bx, next.by) === 0 && ahead < 0;
}

/** On which side of an edge a point lies: 1 to the left, -1 to the right, 0 on its line. */
function side({ ax, ay, bx, by }: Edge, x: number, y: number): number {
  return Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax));
}

/** WGS 84: the equatorial radius in metres, and the first eccentricity. */
const RADIUS = 6_378_137;
const FLATTENING = 1 / 298.257_223_563;
const E = Math.sqrt(FLATTENING * (2 - FLATTENING));

/**
 * What a ring encloses on the WGS 84 ellipsoid, in m²; positive when it runs counter-clockwise. The ellipsoid's zone up
 * to a latitude is in proportion to Snyder's q ("Map Projections: A Working Manual", 1987, equation 3-12), so on the
 * equal-area cylinder of longitude and q the area is a polygon's.
 */
export function ringArea(line: readonly number[]): number {
  const base = zone(line[1] as number);
  let sum = 0;
  for (let k = 0; k + 3 < line.length; k += 2) {
    const [lon, lat, nextLon, nextLat] = line.slice(k, k + 4) as [number, number, number, number];
    sum -= (nextLon - lon) * (zone(lat) - base + zone(nextLat) - base);
  }
  return ((sum / GRID) * (Math.PI / 180) * RADIUS * RADIUS) / 4;
}

function zone(lat: number): number {
  const sin = Math.sin((lat / GRID) * (Math.PI / 180));
  return (1 - E * E) * (sin / (1 - (E * sin) ** 2) + Math.atanh(E * sin) / E);
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
