import { expect, test } from 'vitest';
import { WORLD } from '../../../parts/maps/view.ts';
import { aroundPins, decimalsAt } from './pins.ts';

test('a map of pins opens around all of them, and at the world without any', () => {
  expect(aroundPins([])).toEqual(WORLD);
  const pins = [
    { lon: 30, lat: -2 },
    { lon: 10, lat: 50 },
  ];
  expect(aroundPins(pins)).toEqual({ around: { west: 10, south: -2, east: 30, north: 50 } });
});

test('a click on a map of the world is not taken for an exact place', () => {
  expect([decimalsAt(1.2), decimalsAt(12)]).toEqual([2, 6]);
});
