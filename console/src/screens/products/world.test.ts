import { expect, test } from 'vitest';
import { positionAt, WORLD, zoomed } from './world.ts';

test('a click in the picture is a position on earth', () => {
  expect(positionAt(WORLD, { x: 0.5, y: 85 / 145 })).toEqual({ longitude: '0', latitude: '0' });
  expect(positionAt({ x: 29, y: 1, width: 2, height: 1 }, { x: 0.5, y: 0.95 })).toEqual({
    longitude: '30',
    latitude: '-1.95',
  });
});

test('zooming stays within the world', () => {
  const view = zoomed(WORLD, 2, { x: 179, y: 0 });
  expect(view).toMatchObject({ x: 0, width: 180 });
  expect(zoomed(view, 0.1)).toEqual(WORLD);
});
