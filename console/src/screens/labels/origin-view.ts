/** A place on the map of an origin, in degrees. */
export interface Pin {
  latitude: number;
  longitude: number;
  name: string;
}

/** Units of the picture. */
export const WIDTH = 600;
export const HEIGHT = 400;
/** Degrees from north to south of a map of one place. */
const NEAR = 20;
/** How much more than the pins a map shows. */
const ROOM = 1.4;

/** How degrees become units of the picture; y of degrees grows to the south. */
export interface OriginView {
  /** units of a degree */
  scale: { x: number; y: number };
  /** where 0° is */
  origin: { x: number; y: number };
}

/** The part of the world that the page of a label shows (src/trace-backend/public/label-pages/origin-map.ts). */
export function originView(pins: readonly Pin[]): OriginView {
  const [longitudes, latitudes] = [pins.map(pin => pin.longitude), pins.map(pin => pin.latitude)];
  const [west, east, south, north] = [
    Math.min(...longitudes),
    Math.max(...longitudes),
    Math.min(...latitudes),
    Math.max(...latitudes),
  ] as [number, number, number, number];
  const [longitude, latitude] = [(west + east) / 2, (south + north) / 2];
  const narrowing = Math.cos((latitude * Math.PI) / 180);
  const tall = Math.max(NEAR, ROOM * (north - south), (ROOM * (east - west) * narrowing * HEIGHT) / WIDTH);
  const scale = { x: (narrowing * HEIGHT) / tall, y: HEIGHT / tall };
  return {
    scale,
    origin: { x: WIDTH / 2 - longitude * scale.x, y: HEIGHT / 2 + latitude * scale.y },
  };
}

/** Where a pin is in the picture. */
export function placed(
  { scale, origin }: OriginView,
  { longitude, latitude }: Pin,
): { x: number; y: number } {
  return {
    x: Math.round(origin.x + longitude * scale.x),
    y: Math.round(origin.y - latitude * scale.y),
  };
}
