import { expect, test } from 'vitest';
import { graticuleOf } from './graticule.ts';

const format = (degrees: number, digits: number) => degrees.toFixed(digits);

test('a view has some lines in each direction, with whole steps of degrees', () => {
  const { features } = graticuleOf({ west: 29.93, south: -2.02, east: 30.19, north: -1.88 }, format);
  const texts = features.flatMap(({ properties }) => (properties?.text ? [properties.text] : []));
  expect(texts).toEqual(['29.95', '30.00', '30.05', '30.10', '30.15', '-2.00', '-1.95', '-1.90']);
  const lines = features.filter(({ geometry }) => geometry.type === 'LineString');
  expect(lines).toHaveLength(texts.length);
});

test('a view beyond the date line has the degrees of the other side', () => {
  const { features } = graticuleOf({ west: 179, south: 0, east: 182, north: 1 }, format);
  const texts = features.flatMap(({ properties }) =>
    properties?.kind === 'meridian' ? [properties.text] : [],
  );
  expect(texts).toEqual(['179.0', '179.5', '-180.0', '-179.5', '-179.0', '-178.5', '-178.0']);
});
