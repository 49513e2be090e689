import { expect, test } from 'vitest';
import { parcelNames } from './parcel-names.ts';

const edges = { west: 29, south: -3, east: 31, north: -1 };

/** A rectangle of a field, as a tile has it. */
const part = (name: string | undefined, west: number, south: number, east: number, north: number) => ({
  properties: { geoid: `geoid of ${name}`, ...(name !== undefined && { name }) },
  geometry: {
    type: 'Polygon' as const,
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  },
});

const namesOf = (...args: Parameters<typeof parcelNames>) =>
  parcelNames(...args).features.map(({ properties, geometry }) => [
    properties?.name,
    ...geometry.coordinates,
  ]);

test('a field in four tiles, which overlap, has one name in its middle', () => {
  const parts = [
    part('North', 29.5, -2, 30.01, -1.5),
    part('North', 29.99, -2, 30.5, -1.5),
    part('North', 29.5, -2.5, 30.01, -1.99),
    part('North', 29.99, -2.5, 30.5, -1.99),
    part('South', 30.75, -2.5, 30.85, -2.4),
  ];
  expect(namesOf(parts, edges)).toEqual([
    ['North', 30, -2],
    ['South', expect.closeTo(30.8), expect.closeTo(-2.45)],
  ]);
});

test('the name is in the visible part of a field; hidden fields and fields without a name have none', () => {
  expect(namesOf([part('Large', 0, -40, 60, 40)], edges)).toEqual([['Large', 30, -2]]);
  expect(namesOf([part('Large', 30, -40, 60, -2)], edges)).toEqual([['Large', 30.5, -2.5]]);
  const turned = { ...edges, west: edges.west + 720, east: edges.east + 720 };
  expect(namesOf([part('Large', 0, -40, 60, 40)], turned)).toEqual([['Large', 30, -2]]);
  expect(namesOf([part('West', 20, -2, 21, -1), part('Below', 29, -9, 31, -8)], edges)).toEqual([]);
  expect(namesOf([part(undefined, 29, -2, 30, -1)], edges)).toEqual([]);
});

test('the name is inside a field with a hole or a bay', () => {
  const hole = part('Around', 29.5, -2.5, 30.5, -1.5);
  hole.geometry.coordinates.push(...part('', 29.9, -2.4, 30.4, -1.6).geometry.coordinates);
  expect(namesOf([hole], edges)).toEqual([['Around', expect.closeTo(29.7), -2]]);
});
