/** Names of the images of marks. */
export const SQUARE = 'square';
export const DISC = 'disc';

/** Half of their width, in pixels of the image. */
export const HALF_SIDE = 10;
/** Room around them for their edge, which MapLibre draws as a halo of up to six pixels. */
const MARGIN = 6;
const SIZE = 2 * (HALF_SIDE + MARGIN);

/**
 * A shape as MapLibre colours it (a signed distance field): opacity is the distance to its edge, on which it is 6/8, and
 * a pixel is an eighth.
 */
export function shapeImage(name: typeof SQUARE | typeof DISC): {
  width: number;
  height: number;
  data: Uint8ClampedArray;
} {
  const data = new Uint8ClampedArray(4 * SIZE * SIZE);
  const from = (at: number) => Math.abs(at + 0.5 - SIZE / 2);
  for (let y = 0; y < SIZE; y++) {
    for (let x = 0; x < SIZE; x++) {
      const middle = name === SQUARE ? Math.max(from(x), from(y)) : Math.hypot(from(x), from(y));
      data[4 * (y * SIZE + x) + 3] = (255 * (6 - (middle - HALF_SIDE))) / 8;
    }
  }
  return { width: SIZE, height: SIZE, data };
}
