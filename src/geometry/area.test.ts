import { expect, test } from 'vitest';
import { ringArea } from './area.ts';

test('the areas of all degrees together are that of the WGS 84 ellipsoid', () => {
  let sum = 0;
  for (let lat = -90; lat < 90; lat++) {
    const high = lat + 1;
    sum += 360 * ringArea([0, lat, 1, lat, 1, high, 0, high, 0, lat]);
  }
  // Surface of the ellipsoid, 2πa² + πb²/e · ln((1+e)/(1−e)).
  expect(sum / 510_065_621_724_088).toBeCloseTo(1, 9);
});
