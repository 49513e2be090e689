import type { FeatureCollection, Position } from 'geojson';
import { expect, test } from 'vitest';
import { flattened } from './date-line.ts';

const polygons = (...rings: Position[][]): FeatureCollection => ({
  type: 'FeatureCollection',
  features: [
    {
      type: 'Feature',
      properties: {},
      geometry: { type: 'MultiPolygon', coordinates: rings.map(ring => [ring]) },
    },
  ],
});

test('an area across the date line is whole at both edges of the map, and others stay as they are', () => {
  const across = [
    [170, 10],
    [-170, 10],
    [-170, 20],
    [170, 20],
    [170, 10],
  ];
  const inside = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ];
  expect(flattened(polygons(across, inside))).toEqual(
    polygons(
      [
        [170, 10],
        [190, 10],
        [190, 20],
        [170, 20],
        [170, 10],
      ],
      [
        [-190, 10],
        [-170, 10],
        [-170, 20],
        [-190, 20],
        [-190, 10],
      ],
      inside,
    ),
  );
  const [west] = flattened(
    polygons([
      [-170, 1],
      [170, 1],
      [170, 2],
      [-170, 1],
    ]),
  ).features;
  expect(west?.geometry).toMatchObject({
    coordinates: [
      [
        [
          [-170, 1],
          [-190, 1],
          [-190, 2],
          [-170, 1],
        ],
      ],
      [
        [
          [190, 1],
          [170, 1],
          [170, 2],
          [190, 1],
        ],
      ],
    ],
  });
});

test('an area around a pole goes along the pole', () => {
  const ring = [
    [-120, -70],
    [0, -70],
    [120, -70],
    [-120, -70],
  ];
  const [feature] = flattened(polygons(ring)).features;
  expect(feature?.geometry).toMatchObject({
    coordinates: [
      [
        [
          [-120, -70],
          [0, -70],
          [120, -70],
          [240, -70],
          [240, -90],
          [-120, -90],
          [-120, -70],
        ],
      ],
      [
        [
          [-480, -70],
          [-360, -70],
          [-240, -70],
          [-120, -70],
          [-120, -90],
          [-480, -90],
          [-480, -70],
        ],
      ],
    ],
  });
});
