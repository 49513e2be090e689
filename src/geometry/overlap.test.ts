import { expect, test } from 'vitest';
import { readBoundary } from './boundary.ts';
import { overlapWith, sharedArea } from './overlap.ts';
import type { Ground } from './polygon.ts';

type Position = [lon: number, lat: number];

const box = (west: number, south: number, width: number, height = width): Position[] => [
  [west, south],
  [west + width, south],
  [west + width, south + height],
  [west, south + height],
  [west, south],
];
const ground = (...rings: Position[][]) => readBoundary({ type: 'Polygon', coordinates: rings }, 'geometry');
const parts = (...shells: Position[][]) =>
  readBoundary({ type: 'MultiPolygon', coordinates: shells.map(shell => [shell]) }, 'geometry');

/** Expects a percentage of the first ground to be the second's; a line more or less on a border is two percent. */
function expectShared(first: Ground, second: Ground, percent: number): void {
  expect(Math.abs((100 * sharedArea(first, second)) / first.areaM2 - percent)).toBeLessThan(
    percent / 25 + 0.1,
  );
}

const square = ground(box(10, 10, 0.01));

test('the shared area is the area of the overlap, whichever comes first', () => {
  expectShared(square, square, 100);
  expectShared(square, ground(box(10.005, 10, 0.01)), 50);
  expectShared(ground(box(10.005, 10.005, 0.01)), square, 25);
  expectShared(square, ground(box(10.02, 10, 0.01)), 0);
  expectShared(square, ground(box(10, 10.01, 0.01)), 0);
  const small = ground(box(10.004, 10.004, 0.0005));
  expectShared(small, square, 100);
  expect(sharedArea(square, small) / small.areaM2).toBeCloseTo(1, 2);
});

test('holes do not count, and parts count by their area', () => {
  const ring = ground(box(10, 10, 0.01), box(10.002, 10.002, 0.006).toReversed());
  expectShared(ground(box(10.003, 10.003, 0.004)), ring, 0);
  expectShared(square, ring, 64);
  expectShared(parts(box(10.001, 10.001, 0.004), box(10.02, 10.001, 0.004)), square, 50);
});

test('a thin tail changes nothing, however long it is', () => {
  const [side, tail] = [10.009, 10.000_001];
  const kite = ground([
    [10, 10],
    [side, 10],
    [side, side],
    [tail, side],
    [tail, 10.15],
    [10, 10.15],
    [10, 10],
  ]);
  expect(kite.bounds.north).toBe(10.15);
  expectShared(kite, square, 100);
  expectShared(square, kite, 81);
});

test('grounds on both sides of the date line are found', () => {
  const west = ground(box(179.995, 10, 0.004));
  const across = parts(box(179.99, 10, 0.01), box(-180, 10, 0.01));
  expectShared(west, across, 100);
  expectShared(ground(box(-179.995, 10, 0.004)), across, 100);
});

test('area that several polygons cover counts once', () => {
  const overlap = overlapWith(square);
  expect(overlap.area()).toBe(0);
  overlap.add(ground(box(10, 10, 0.006, 0.01)));
  overlap.add(ground(box(10.004, 10, 0.004, 0.01)));
  overlap.add(ground(box(11, 10, 0.01)));
  expect(overlap.area() / square.areaM2).toBeCloseTo(0.8, 2);
});

test('a comb of thousands of teeth, with thousands of intervals on every line, is measured, too', () => {
  const teeth = 1200;
  const [step, height] = [0.1 / teeth, 0.0001];
  const corners = Array.from({ length: teeth }, (_, tooth): Position[] => {
    const west = 10 + tooth * step;
    return [
      [west, 10 + height],
      [west + step / 4, 10 + height],
      [west + step / 4, 10],
      [west + step, 10],
    ];
  }).flat();
  const comb = ground([[10, 9.99999], ...corners, [10.1, 9.99999], [10, 9.99999]]);
  const strip = ground(box(10, 10, 0.1, height));
  expectShared(strip, comb, 25);
  const overlap = overlapWith(strip);
  for (let times = 0; times < 100; times++) overlap.add(comb);
  expect(overlap.area() / strip.areaM2).toBeCloseTo(0.25, 1);
});
