import { type Opened, WORLD } from '../../../parts/maps/view.ts';

/** From which on a click is exact to less than a thousandth of a degree. */
const EXACT_ZOOM = 7;

/** Where a map of pins opens: around them, or at the world without any. */
export function aroundPins(pins: readonly { lon: number; lat: number }[]): NonNullable<Opened> {
  if (pins.length === 0) return WORLD;
  const [lons, lats] = [pins.map(({ lon }) => lon), pins.map(({ lat }) => lat)];
  return {
    around: {
      west: Math.min(...lons),
      south: Math.min(...lats),
      east: Math.max(...lons),
      north: Math.max(...lats),
    },
  };
}

/** How many decimals the degrees of a click have: no more than it can mean. */
export function decimalsAt(zoom: number): number {
  return zoom < EXACT_ZOOM ? 2 : 6;
}
