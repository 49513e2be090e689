/** Pixels of a tile on the screen at a whole zoom. */
export const TILE_SIDE = 512;

/** Where a place is on a flat world of so many pixels. */
export function pixelOf(lon: number, lat: number, side: number): { x: number; y: number } {
  return {
    x: ((lon + 180) / 360) * side,
    y: (0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI)) * side,
  };
}

/** The place of a pixel of a flat world. */
export function placeOf(x: number, y: number, side: number): { lon: number; lat: number } {
  return {
    lon: (x / side) * 360 - 180,
    lat: Math.atan(Math.sinh(Math.PI * (1 - (2 * y) / side))) * (180 / Math.PI),
  };
}
