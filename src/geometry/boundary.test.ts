import { describe, expect, test } from 'vitest';
import { checkArea, readBoundary } from './boundary.ts';

type Position = number[];

const square = (west: number, south: number, side: number): Position[] => [
  [west, south],
  [west + side, south],
  [west + side, south + side],
  [west, south + side],
  [west, south],
];
const polygon = (...rings: unknown[]) => ({ type: 'Polygon', coordinates: rings });
const multi = (...polygons: unknown[][]) => ({ type: 'MultiPolygon', coordinates: polygons });
const read = (geometry: unknown) => readBoundary(geometry, 'geometry');

const outer = square(76, 30, 0.01);
const area = read(polygon(outer)).areaM2;

describe('a boundary is accepted', () => {
  test('with a hole, with altitudes, with positions given twice, either way round', () => {
    const hole = square(76.002, 30.002, 0.001);
    expect(read(polygon(outer, hole)).areaM2).toBeLessThan(area);
    expect(read(polygon(outer.map(([lon, lat]) => [lon, lat, 412.5]))).areaM2).toBe(area);
    expect(read(polygon(outer.flatMap(position => [position, position]))).areaM2).toBe(area);
    expect(read(polygon(outer.toReversed())).areaM2).toBeCloseTo(area, 6);
  });

  test('when rings touch in a point: a hole its shell, holes one another, polygons at a corner', () => {
    const touching = [
      [76, 30.005],
      [76.003, 30.004],
      [76.003, 30.006],
      [76, 30.005],
    ];
    const next = [
      [76.003, 30.004],
      [76.006, 30.003],
      [76.006, 30.005],
      [76.003, 30.004],
    ];
    expect(() => read(polygon(outer, touching))).not.toThrow();
    expect(() => read(polygon(outer, touching, next))).not.toThrow();
    expect(() => read(multi([outer], [square(76.01, 30.01, 0.01)]))).not.toThrow();
  });

  test('when polygons lie side by side, or one in a hole of the other', () => {
    const neighbour = [
      [76.01, 30],
      [76.02, 30],
      [76.02, 30.01],
      [76.01, 30.01],
      [76.01, 30],
    ];
    expect(read(multi([outer], [neighbour])).areaM2).toBeCloseTo(2 * area, 0);
    const hole = square(76.002, 30.002, 0.004);
    expect(() => read(multi([outer, hole], [square(76.003, 30.003, 0.001)]))).not.toThrow();
    expect(read(multi([outer, hole], [hole])).areaM2).toBeCloseTo(area, 6);
  });

  test('when it crosses the date line with a hole on the other side of it', () => {
    const across = [
      [179.99, 0],
      [-179.99, 0],
      [-179.99, 0.01],
      [179.99, 0.01],
      [179.99, 0],
    ];
    const hole = square(-179.995, 0.002, 0.002);
    const ground = read(polygon(across, hole));
    expect(ground.bounds).toEqual({ south: 0, west: 179.99, north: 0.01, east: 180.01 });
    expect(ground.areaM2).toBeCloseTo(read(polygon(across)).areaM2 - read(polygon(hole)).areaM2, 3);
  });
});

const cases: [what: string, geometry: unknown, message: RegExp][] = [
  ['there is none', undefined, /^geometry\.type must be Polygon or MultiPolygon$/],
  ['it is null', null, /^geometry\.type must be/],
  ['it is a line', { type: 'LineString', coordinates: [] }, /^geometry\.type must be/],
  ['coordinates are missing', { type: 'Polygon' }, /^geometry\.coordinates must be an array of rings$/],
  ['it has no rings', polygon(), /^geometry\.coordinates must be an array of rings$/],
  ['it has no polygons', multi(), /^geometry\.coordinates must be an array of polygons$/],
  ['a ring is text', polygon('ring'), /^geometry\.coordinates\[0\] must be an array of positions$/],
  ['a position is a number', polygon([1, 2, 3, 4]), /^geometry\.coordinates\[0\]\[0\] must be a position/],
  ['a position is text', polygon([['76', '30']]), /^geometry\.coordinates\[0\]\[0\] must be a position/],
  [
    'a position is not finite',
    polygon([[76, Number.NaN]]),
    /^geometry\.coordinates\[0\]\[0\] must be a position/,
  ],
  [
    'latitude and longitude change places',
    polygon([[30, 96]]),
    /^geometry\.coordinates\[0\]\[0\]: the latitude 96 /,
  ],
  [
    'a longitude runs on past 180',
    polygon([[181, 0]]),
    /^geometry\.coordinates\[0\]\[0\]: the longitude 181 /,
  ],
  [
    'a ring has three positions',
    polygon(square(1, 1, 1).slice(0, 3)),
    /^geometry\.coordinates\[0\]: a ring needs at least four/,
  ],
  [
    'a ring is open',
    polygon(square(1, 1, 1).slice(0, 4)),
    /^geometry\.coordinates\[0\]: the ring is not closed/,
  ],
  [
    'a ring is a point',
    polygon(Array(4).fill([76, 30])),
    /^geometry\.coordinates\[0\]: a ring needs at least three distinct/,
  ],
  [
    'a ring goes there and back',
    polygon([
      [76, 30],
      [76.01, 30.01],
      [76, 30],
      [76, 30],
    ]),
    /^geometry\.coordinates\[0\]: a ring needs at least three|crosses or touches itself/,
  ],
  [
    'a ring lies on one line',
    polygon([
      [76, 30],
      [76.01, 30],
      [76.005, 30],
      [76, 30],
    ]),
    /^geometry\.coordinates\[0\]: the ring crosses or touches itself/,
  ],
  [
    'a ring is a figure of eight',
    polygon([
      [76, 30],
      [76.01, 30.01],
      [76.01, 30],
      [76, 30.01],
      [76, 30],
    ]),
    /^geometry\.coordinates\[0\]: the ring crosses or touches itself near \[76\.005, 30\.005\]$/,
  ],
  [
    'a ring touches itself at a corner',
    polygon([
      [76, 30],
      [76.01, 30],
      [76.005, 30.005],
      [76.01, 30.01],
      [76, 30.01],
      [76.005, 30.005],
      [76, 30],
    ]),
    /^geometry\.coordinates\[0\]: the ring crosses or touches itself/,
  ],
  [
    'a ring has a spike',
    polygon([...square(76, 30, 0.01).slice(0, 3), [76.02, 30.02], ...square(76, 30, 0.01).slice(2)]),
    /^geometry\.coordinates\[0\]: the ring crosses or touches itself/,
  ],
  [
    'a hole lies beside',
    polygon(outer, square(76.02, 30, 0.001)),
    /^geometry\.coordinates\[1\]: the hole is not inside/,
  ],
  [
    'a hole lies around',
    polygon(square(76.002, 30.002, 0.001), outer),
    /^geometry\.coordinates\[1\]: the hole is not inside/,
  ],
  [
    'a hole reaches out',
    polygon(outer, square(76.009, 30.002, 0.002)),
    /^geometry\.coordinates\[\d\]: the ring crosses/,
  ],
  [
    'a hole shares an edge',
    polygon(outer, [
      [76, 30.002],
      [76.002, 30.002],
      [76.002, 30.004],
      [76, 30.004],
      [76, 30.002],
    ]),
    /^geometry\.coordinates\[\d\]: the ring overlaps/,
  ],
  [
    'a hole leaves by a corner of its shell',
    polygon(
      [
        [76, 30],
        [76.004, 30.004],
        [76.008, 30],
        [76.008, 30.008],
        [76, 30.008],
        [76, 30],
      ],
      [
        [76.004, 30.004],
        [76.0045, 30],
        [76.0035, 30],
        [76.004, 30.004],
      ],
    ),
    /^geometry\.coordinates\[1\]: the hole is not inside/,
  ],
  [
    'a hole lies in another',
    polygon(outer, square(76.002, 30.002, 0.004), square(76.003, 30.003, 0.001)),
    /^geometry\.coordinates\[1\]|geometry\.coordinates\[2\]: the hole overlaps/,
  ],
  [
    'a polygon comes twice',
    multi([outer], [outer]),
    /^geometry\.coordinates\[1\]\[0\]: the ring overlaps geometry\.coordinates\[0\]\[0\]/,
  ],
  [
    'polygons overlap along aligned edges',
    multi(
      [
        [
          [76, 30],
          [76.01, 30],
          [76.01, 30.01],
          [76, 30.01],
          [76, 30],
        ],
      ],
      [
        [
          [76.005, 30],
          [76.015, 30],
          [76.015, 30.01],
          [76.005, 30.01],
          [76.005, 30],
        ],
      ],
    ),
    /^geometry\.coordinates\[1\]\[0\]: the ring overlaps/,
  ],
  [
    'a polygon lies in another',
    multi([outer], [square(76.002, 30.002, 0.001)]),
    /^geometry\.coordinates\[\d\]\[0\]: the polygon overlaps/,
  ],
  [
    'a polygon passes through the corners of another',
    multi(
      [square(76, 30, 0.0078125)],
      [
        [
          [75.9921875, 29.9921875],
          [76.015625, 30.015625],
          [75.9921875, 30.015625],
          [75.9921875, 29.9921875],
        ],
      ],
    ),
    /^geometry\.coordinates\[\d\]\[0\]: the polygon overlaps/,
  ],
  [
    'a ring runs around a pole',
    polygon([
      [0, 88],
      [120, 88],
      [-120, 88],
      [0, 88],
    ]),
    /^geometry\.coordinates\[0\]: the ring runs around a pole$/,
  ],
  [
    'it reaches for a pole',
    polygon([
      [0, 89.99],
      [1, 89.99],
      [1, 90],
      [0, 90],
      [0, 89.99],
    ]),
    /^geometry\.coordinates\[0\]: boundaries can reach up to 89 degrees/,
  ],
  [
    'an edge spans half the globe',
    polygon([
      [-90, 0],
      [90, 0],
      [90, 1],
      [-90, 0],
    ]),
    /^geometry\.coordinates\[0\]: an edge spans half the globe$/,
  ],
  ['it is a country', polygon(square(76, 30, 1)), /^geometry: a boundary can be at most 20 km wide/],
  [
    'its box is too large',
    polygon(square(76, 30, 0.1)),
    /^geometry: the bounding box of a boundary can have at most 20 km²/,
  ],
  [
    'parts are far apart',
    multi([square(76, 30, 0.001)], [square(77, 30, 0.001)]),
    /^geometry: a boundary can be at most 20 km wide/,
  ],
  [
    'it has too many positions',
    polygon(Array.from({ length: 5_001 }, (_, k) => [76 + k / 1e7, 30])),
    /^geometry: a boundary can have at most 5000 positions$/,
  ],
  [
    'it has too many rings',
    polygon(...Array(257).fill(outer)),
    /^geometry: a boundary can have at most 256 rings$/,
  ],
  [
    'it is a comb',
    polygon([
      [76, 30],
      [76.01, 30],
      ...Array.from({ length: 300 }, (_, k) => [76.01 - k / 30_100, k % 2 ? 30.0001 : 30.01]),
      [76, 30],
    ]),
    /^geometry: a boundary can be at most 100 km long$/,
  ],
];

describe('a boundary is refused, by the path of what is wrong, when', () => {
  test.each(cases)('%s', (_what, geometry, message) => {
    expect(() => read(geometry)).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.stringMatching(message) }),
    );
  });

  test('it has more than 1000 acres', () => {
    expect(() => checkArea(4_046_856, 'geometry')).not.toThrow();
    expect(() => checkArea(4_046_857, 'features[2].geometry')).toThrow(
      /^features\[2\]\.geometry: a field can have at most 1000 acres/,
    );
  });
});
