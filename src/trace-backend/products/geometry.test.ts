import fc from 'fast-check';
import { expect, test } from 'vitest';
import { plotText, readPlot, ringArea, selfContact } from './geometry.ts';

/** What is wrong with a geometry, by path; empty for a good one. */
function faults(geometry: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  const plot = readPlot(geometry, 'g', (path, sentence) => {
    fields[path] = sentence;
  });
  expect(plot === undefined).toBe(Object.keys(fields).length > 0);
  return fields;
}

const polygon = (...rings: number[][][]) => ({ type: 'Polygon', coordinates: rings });
const square = [
  [29, -1],
  [29.001, -1],
  [29.001, -1.001],
  [29, -1.001],
  [29, -1],
];

const NO_PLOTS: [string, RegExp, unknown][] = [
  ['g.coordinates', /position/, { type: 'Point', coordinates: [1] }],
  ['g.coordinates', /position/, { type: 'Point', coordinates: [1, '2'] }],
  ['g.coordinates', /latitude, which is second/, { type: 'Point', coordinates: [29, 91] }],
  ['g.coordinates', /rings/, { type: 'Polygon', coordinates: 5 }],
  ['g.coordinates.0', /ring/, { type: 'Polygon', coordinates: [5] }],
  ['g.coordinates.0', /four positions/, polygon(square.slice(0, 3))],
  ['g.coordinates.0', /not closed/, polygon(square.slice(0, 4))],
  ['g.coordinates.0.2', /position/, polygon([[0, 0], [1, 1], [2], [0, 0]])],
  ['g.coordinates.1', /hole/, polygon(square, square)],
  [
    'g.coordinates.0',
    /three different corners/,
    polygon([
      [0, 0],
      [0, 0],
      [1e-7, 0],
      [0, 0],
    ]),
  ],
  [
    'g.coordinates.0',
    /three different corners/,
    polygon([
      [0, 0],
      [1, 0],
      [1, 0],
      [0, 0],
    ]),
  ],
  [
    'g.coordinates.0',
    /date line/,
    polygon([
      [179.9, 0],
      [-179.9, 0],
      [-179.9, 1],
      [179.9, 0],
    ]),
  ],
  [
    'g.coordinates.0',
    /crosses or touches/,
    polygon([
      [0, 0],
      [1, 1],
      [1, 0],
      [0, 1],
      [0, 0],
    ]),
  ],
  [
    'g.coordinates.0',
    /crosses or touches/,
    polygon([
      [0, 0],
      [2, 0],
      [1, 0],
      [1, 1],
      [0, 0],
    ]),
  ],
  [
    'g.coordinates.0',
    /crosses or touches/,
    polygon([
      [0, 0],
      [2, 0],
      [2, 2],
      [1, 0],
      [0, 2],
      [0, 0],
    ]),
  ],
  ['g.coordinates.0', /2000/, polygon(Array.from({ length: 2001 }, () => [0, 0]))],
];

test('what is no plot is told with its path', () => {
  for (const [path, sentence, geometry] of NO_PLOTS) {
    expect(faults(geometry), JSON.stringify(geometry).slice(0, 80)).toEqual({
      [path]: expect.stringMatching(sentence),
    });
  }
  expect(faults(polygon(square))).toEqual({});
});

test('plots are written with six decimals, counter-clockwise, without what repeats', () => {
  const clockwise = polygon([[29, -1, 1650], ...square.slice(0, 2), ...square.slice(1)]);
  const plot = readPlot(clockwise, 'g', () => {});
  expect(plot && plotText(plot)).toBe(
    '{"type":"Polygon","coordinates":[[[29.000000,-1.000000],[29.000000,-1.001000],' +
      '[29.001000,-1.001000],[29.001000,-1.000000],[29.000000,-1.000000]]]}',
  );
  const point = readPlot({ type: 'Point', coordinates: [-0.0000001, -1.21953449] }, 'g', () => {});
  expect(point && plotText(point)).toMatch(/^\{"type":"Point","coordinates":\[-?0\.000000,-1\.219534\]\}$/);
});

test('the areas of all degrees together are that of the WGS 84 ellipsoid', () => {
  let sum = 0;
  for (let lat = -90; lat < 90; lat++) {
    const [low, high] = [lat * 1e6, (lat + 1) * 1e6];
    sum += 360 * ringArea([0, low, 1e6, low, 1e6, high, 0, high, 0, low]);
  }
  // Surface of the ellipsoid, 2πa² + πb²/e · ln((1+e)/(1−e)).
  expect(sum / 510_065_621_724_088).toBeCloseTo(1, 9);
});

/** Corners around a middle, each in a direction of its own: a ring that never meets itself. */
const star = fc
  .record({
    lon: fc.integer({ min: -179_000_000, max: 179_000_000 }),
    lat: fc.integer({ min: -80_000_000, max: 80_000_000 }),
    radii: fc.array(fc.integer({ min: 300, max: 20_000 }), { minLength: 3, maxLength: 60 }),
  })
  .map(({ lon, lat, radii }) => {
    const corners = radii.map((radius, index) => {
      const angle = (2 * Math.PI * index) / radii.length;
      return [lon + Math.round(radius * Math.cos(angle)), lat + Math.round(radius * Math.sin(angle))];
    });
    return [...corners, corners[0] as number[]].flat();
  });
const inDegrees = (line: number[]) =>
  Array.from({ length: line.length / 2 }, (_, k) => [
    (line[2 * k] as number) / 1e6,
    (line[2 * k + 1] as number) / 1e6,
  ]);

test('a ring around a middle is a plot, whichever way it runs and wherever it begins; its area stays the same', () => {
  fc.assert(
    fc.property(star, fc.nat(), (line, turn) => {
      const positions = inDegrees(line);
      const corners = positions.slice(1);
      const start = turn % corners.length;
      const turned = [...corners.slice(start), ...corners.slice(0, start)];
      const areas = [positions, positions.toReversed(), [...turned, turned[0] as number[]]].map(ring => {
        const plot = readPlot(polygon(ring), 'g', () => {});
        return plot ? ringArea(plot.line) : 0;
      });
      expect(areas[0]).toBeGreaterThan(0);
      for (const area of areas) expect(area / (areas[0] as number)).toBeCloseTo(1, 6);
      // Beside the flat area of a degree's length there: good to a percent.
      const [, lat] = positions[0] as [number, number];
      const flat = Math.abs(shoelace(line)) * 0.1113195 * 0.1109 * Math.cos((lat * Math.PI) / 180);
      expect((areas[0] as number) / flat).toBeGreaterThan(0.985);
      expect((areas[0] as number) / flat).toBeLessThan(1.015);
    }),
  );
});

/** A flat ring's area, in square millionths of a degree. */
function shoelace(line: number[]): number {
  let sum = 0;
  const [x0, y0] = line as [number, number];
  for (let k = 0; k + 3 < line.length; k += 2) {
    const [ax, ay, bx, by] = line.slice(k, k + 4) as [number, number, number, number];
    sum += (ax - x0) * (by - y0) - (ay - y0) * (bx - x0);
  }
  return sum / 2;
}

test('what is exported passes the same check again, and reads the same', () => {
  fc.assert(
    fc.property(star, line => {
      const plot = readPlot(polygon(inDegrees(line)), 'g', () => {});
      const text = plotText(plot as NonNullable<typeof plot>);
      const again = readPlot(JSON.parse(text), 'g', () => {});
      expect(again).toEqual(plot);
      expect(text).not.toMatch(/[0-9]\.\d{0,5}[,\]]/);
    }),
  );
});

test('the sweep finds a contact exactly where comparing each edge with each finds one', () => {
  const corner = fc.tuple(fc.integer({ min: 0, max: 6 }), fc.integer({ min: 0, max: 6 }));
  let good = 0;
  fc.assert(
    fc.property(fc.array(corner, { minLength: 3, maxLength: 8 }), corners => {
      const ring = corners.filter((at, index) => `${at}` !== `${corners.at(index - 1)}`);
      fc.pre(ring.length >= 3);
      const line = [...ring, ring[0] as [number, number]].flat();
      const found = selfContact(line) !== undefined;
      expect(found).toBe(meetsItself(ring));
      if (!found) good++;
    }),
    { numRuns: 3000 },
  );
  expect(good).toBeGreaterThan(50);
});

/** Whether two edges of a ring share a point other than the corner between them, by looking at every two edges. */
function meetsItself(ring: readonly [number, number][]): boolean {
  const edges = ring.map(
    (from, index) => [from, ring[(index + 1) % ring.length] as [number, number]] as const,
  );
  return edges.some(([a, b], i) =>
    edges.some(([c, d], j) => {
      if (j <= i) return false;
      const next = j === i + 1;
      const around = i === 0 && j === edges.length - 1;
      const shared = next ? c : around ? a : undefined;
      return meetings(a, b, c, d).some(([x, y]) => !shared || x !== shared[0] || y !== shared[1]);
    }),
  );
}

type Point = readonly [number, number];

/** Points that two segments share: their ends on one another, and where their lines cross. */
function meetings(a: Point, b: Point, c: Point, d: Point): Point[] {
  const on = ([x, y]: Point, p: Point, q: Point) =>
    (q[0] - p[0]) * (y - p[1]) === (q[1] - p[1]) * (x - p[0]) &&
    (x - p[0]) * (x - q[0]) <= 0 &&
    (y - p[1]) * (y - q[1]) <= 0;
  const ends = [...[a, b].filter(point => on(point, c, d)), ...[c, d].filter(point => on(point, a, b))];
  const [rx, ry, sx, sy] = [b[0] - a[0], b[1] - a[1], d[0] - c[0], d[1] - c[1]];
  const cross = rx * sy - ry * sx;
  if (cross === 0) return ends;
  const t = ((c[0] - a[0]) * sy - (c[1] - a[1]) * sx) / cross;
  const u = ((c[0] - a[0]) * ry - (c[1] - a[1]) * rx) / cross;
  const inside = t > 0 && t < 1 && u > 0 && u < 1;
  return inside ? [...ends, [a[0] + t * rx, a[1] + t * ry]] : ends;
}
