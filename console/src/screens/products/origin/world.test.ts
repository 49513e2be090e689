import { expect, test } from 'vitest';
import { centredOn, fitted, positionAt, WORLD, zoomed } from './world.ts';

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

test('a view is fitted to its points, with room around them, and is the world without any', () => {
  expect(fitted([])).toEqual(WORLD);
  const view = fitted([{ x: 30, y: 2 }]);
  expect([view.x + view.width / 2, view.y + view.height / 2, view.width]).toEqual([30, 2, 20]);
  const [huye, hamburg] = [
    { x: 29.7, y: 2.6 },
    { x: 10, y: -53.5 },
  ];
  const { x, y, width, height } = fitted([huye, hamburg]);
  expect(x).toBeLessThan(10);
  expect(x + width).toBeGreaterThan(29.7);
  expect(y).toBeLessThan(-53.5);
  expect(y + height).toBeGreaterThan(2.6);
  expect(width).toBeLessThan(WORLD.width);
  expect(
    fitted([
      { x: -179, y: 0 },
      { x: 179, y: 0 },
    ]),
  ).toEqual(WORLD);
});

test('a view is centred on a place, from the world nearer, otherwise as near as it was', () => {
  const view = centredOn(WORLD, { x: 30, y: 2 });
  expect(view).toMatchObject({ x: 20, width: 20 });
  expect(centredOn({ ...view, width: 2 }, { x: 40, y: 2 })).toMatchObject({ x: 39, width: 2 });
});
