import { expect, test } from 'vitest';
import { pointIn } from './parcel-point.ts';

const square = (west: number, east: number) => [
  [west, 0],
  [east, 0],
  [east, 2],
  [west, 2],
  [west, 0],
];

test('the point of a field is inside of it, also if it has a hole, a bay or several parts', () => {
  expect(pointIn({ type: 'Polygon', coordinates: [square(0, 4)] })).toEqual([2, 1]);
  expect(pointIn({ type: 'Polygon', coordinates: [square(0, 10), square(1, 3)] })).toEqual([6.5, 1]);
  const bay = [
    [0, 0],
    [10, 0],
    [10, 2],
    [8, 2],
    [8, 0.5],
    [3, 0.5],
    [3, 2],
    [0, 2],
    [0, 0],
  ];
  expect(pointIn({ type: 'Polygon', coordinates: [bay] })).toEqual([1.5, 1]);
  const parts = [[square(20, 22)], [square(0, 4)]];
  expect(pointIn({ type: 'MultiPolygon', coordinates: parts })).toEqual([21, 1]);
});

test('a field across the date line has its point there', () => {
  const [lon] = pointIn({ type: 'Polygon', coordinates: [square(179, -178)] });
  expect(lon).toBe(-179.5);
});
