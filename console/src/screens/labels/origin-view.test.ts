import { expect, test } from 'vitest';
import { originMap } from '../../../../src/trace-backend/public/label-pages/origin-map.ts';
import { originView, type Pin, placed } from './origin-view.ts';

const pin = (longitude: number, latitude: number): Pin => ({ longitude, latitude, name: '' });

test.each([
  ['one', [pin(29.25, -2.5)]],
  ['near each other', [pin(29.25, -2.5), pin(29.9, -1.7)]],
  ['far to the north', [pin(18.9, 69.6), pin(29, 70.1)]],
  ['all over the world', [pin(-87.2, 14.1), pin(30, -1.9), pin(151, -33.9)]],
])('pins that are %s are where the page behind the code has them', (_, pins) => {
  const onPage = [...originMap(pins, '').matchAll(/<circle cx="(-?\d+)" cy="(-?\d+)"/g)];
  const view = originView(pins);
  expect(pins.map(pin => placed(view, pin))).toEqual(
    onPage.map(([, x, y]) => ({ x: Number(x), y: Number(y) })),
  );
});
