/** The name of the image of fields that are too small to be drawn. */
export const SQUARE = 'square';

/** Half of its side, in pixels of the image. */
export const HALF_SIDE = 10;
/** Room around it for its edge, which MapLibre draws as a halo of up to six pixels. */
const MARGIN = 6;
const SIZE = 2 * (HALF_SIDE + MARGIN);

/**
 * A square as MapLibre colours it (a signed distance field): opacity is the distance to its edge, on which it is 6/8, and
 * a pixel is an eighth.
 */
export function squareImage(): { width: number; height: number; data: Uint8ClampedArray } {
  const data = new Uint8ClampedArray(4 * SIZE * SIZE);
  const distanceOf = (at: number) => Math.abs(at + 0.5 - SIZE / 2) - HALF_SIDE;
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const outside = Math.max(distanceOf(x), distanceOf(y));
      data[4 * (y * SIZE + x) + 3] = (255 * (6 - outside)) / 8;
    }
  }
  return { width: SIZE, height: SIZE, data };
}
