import type { Position } from 'geojson';

/** How often corners are cut: the lakes and rivers have their points on a grid of about four by two kilometres. */
const TURNS = 2;

/** A line with its corners cut (Chaikin's algorithm); its ends stay. */
export function smoothedLine(line: readonly Position[]): Position[] {
  let smooth = [...line];
  for (let turn = 0; turn < TURNS && smooth.length > 2; turn++) {
    const cut = smooth.slice(1).flatMap((to, index) => cutOf(smooth[index] as Position, to));
    smooth = [smooth[0] as Position, ...cut.slice(1, -1), smooth.at(-1) as Position];
  }
  return smooth;
}

/** A closed ring with its corners cut. */
export function smoothedRing(ring: readonly Position[]): Position[] {
  let smooth = [...ring];
  for (let turn = 0; turn < TURNS; turn++) {
    const cut = smooth.slice(1).flatMap((to, index) => cutOf(smooth[index] as Position, to));
    smooth = [...cut, cut[0] as Position];
  }
  return smooth;
}

/** The two points at a quarter of a way from both its ends. */
function cutOf([x1 = 0, y1 = 0]: Position, [x2 = 0, y2 = 0]: Position): Position[] {
  return [
    [0.75 * x1 + 0.25 * x2, 0.75 * y1 + 0.25 * y2],
    [0.25 * x1 + 0.75 * x2, 0.25 * y1 + 0.75 * y2],
  ];
}
