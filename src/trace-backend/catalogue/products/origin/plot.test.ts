import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../../test/helpers/property.ts';
import { type Fault, textOf } from '../../../../platform/http/reasons/catalogue.ts';
import { checkPlot, countPositions, plotArea, plotText, readPlot } from './plot.ts';

/** The faults of a geometry, by path; empty for a valid one. */
function faults(geometry: unknown): Record<string, string> {
  const fields: Record<string, string> = {};
  const complain = (fault: Fault) => {
    fields[fault.parameters.field as string] = textOf(fault);
  };
  const plot = readPlot(geometry, 'g', complain);
  const good = plot !== undefined && checkPlot(plot, 'g', complain);
  expect(good).toBe(Object.keys(fields).length === 0);
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
  ['g.coordinates', /latitude 91 .* longitude comes first/, { type: 'Point', coordinates: [29, 91] }],
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

test('an invalid plot is reported with its path', () => {
  for (const [path, sentence, geometry] of NO_PLOTS) {
    expect(faults(geometry), JSON.stringify(geometry).slice(0, 80)).toEqual({
      [path]: expect.stringMatching(sentence),
    });
  }
  expect(faults(polygon(square))).toEqual({});
});

test('plots are written with six decimals, counter-clockwise, without repeated positions', () => {
  const clockwise = polygon([[29, -1, 1650], ...square.slice(0, 2), ...square.slice(1)]);
  const plot = readPlot(clockwise, 'g', () => {});
  expect(plot && plotText(plot)).toBe(
    '{"type":"Polygon","coordinates":[[[29.000000,-1.000000],[29.000000,-1.001000],' +
      '[29.001000,-1.001000],[29.001000,-1.000000],[29.000000,-1.000000]]]}',
  );
  const point = readPlot({ type: 'Point', coordinates: [-0.0000001, -1.21953449] }, 'g', () => {});
  expect(point && plotText(point)).toMatch(/^\{"type":"Point","coordinates":\[-?0\.000000,-1\.219534\]\}$/);
});

/** Corners around a centre in increasing directions: a ring that never meets itself. */
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

test('a ring around a centre is a plot, with the same area in either direction and from any start', () => {
  fc.assert(
    fc.property(star, fc.nat(), (line, turn) => {
      const positions = inDegrees(line);
      const corners = positions.slice(1);
      const start = turn % corners.length;
      const turned = [...corners.slice(start), ...corners.slice(0, start)];
      const areas = [positions, positions.toReversed(), [...turned, turned[0] as number[]]].map(ring => {
        const plot = readPlot(polygon(ring), 'g', () => {});
        return plot ? plotArea(plot) : 0;
      });
      expect(areas[0]).toBeGreaterThan(0);
      for (const area of areas) expect(area / (areas[0] as number)).toBeCloseTo(1, 6);
      // Compared with the flat area at the length of a degree there, to a percent.
      const [, lat] = positions[0] as [number, number];
      const flat = Math.abs(shoelace(line)) * 0.1113195 * 0.1109 * Math.cos((lat * Math.PI) / 180);
      expect((areas[0] as number) / flat).toBeGreaterThan(0.985);
      expect((areas[0] as number) / flat).toBeLessThan(1.015);
    }),
    { numRuns: runs(100) },
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

test('an exported plot passes the check again and stays the same', () => {
  fc.assert(
    fc.property(star, line => {
      const plot = readPlot(polygon(inDegrees(line)), 'g', () => {});
      const text = plotText(plot as NonNullable<typeof plot>);
      const again = readPlot(JSON.parse(text), 'g', () => {});
      expect(again).toEqual(plot);
      expect(text).not.toMatch(/[0-9]\.\d{0,5}[,\]]/);
    }),
    { numRuns: runs(100) },
  );
});

test('positions are counted even in invalid geometries', () => {
  expect(countPositions({ type: 'Point', coordinates: [1, 200] })).toBe(1);
  expect(countPositions(polygon(square, square.slice(1)))).toBe(9);
  expect(countPositions({ type: 'Polygon', coordinates: [5, [[0]], []] })).toBe(2);
});

test('the position at which a ring meets itself is reported with six decimals', () => {
  const bowtie = [
    [0, 0],
    [1, 1],
    [1, 0],
    [0, 1],
    [0, 0],
  ];
  expect(Object.values(faults(polygon(bowtie)))).toEqual([
    'g.coordinates.0: the ring crosses or touches itself near [0.500000, 0.500000]',
  ]);
});
