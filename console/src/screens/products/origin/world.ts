/** A part of the world in degrees, as the viewBox of a picture: y grows to the south. */
export interface View {
  x: number;
  y: number;
  width: number;
  height: number;
}

export const WORLD: View = { x: -180, y: -85, width: 360, height: 145 };

/** A view zoomed around a point by a factor; above 1 it shows less. It stays within the world. */
export function zoomed(view: View, factor: number, at = centreOf(view)): View {
  const width = Math.min(WORLD.width, Math.max(0.5, view.width / factor));
  const height = (width / WORLD.width) * WORLD.height;
  const within = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);
  return {
    x: within(at.x - width / 2, WORLD.x, WORLD.x + WORLD.width - width),
    y: within(at.y - height / 2, WORLD.y, WORLD.y + WORLD.height - height),
    width,
    height,
  };
}

/** Minimum width of a view, in degrees. */
const NEAR = 20;

/** The part of the world with all these points and room around them; the whole world without any. */
export function fitted(points: readonly { x: number; y: number }[]): View {
  if (points.length === 0) return WORLD;
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [west, east, north, south] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const needed = 1.3 * Math.max(east - west, ((south - north) * WORLD.width) / WORLD.height);
  const centre = { x: (west + east) / 2, y: (north + south) / 2 };
  return zoomed(WORLD, WORLD.width / Math.max(NEAR, needed), centre);
}

/** A view with a point in its middle, as near as before, or nearer if it showed much of the world. */
export function centredOn(view: View, at: { x: number; y: number }): View {
  return zoomed(view, Math.max(1, view.width / NEAR), at);
}

/** The middle of a view. */
export function centreOf({ x, y, width, height }: View): { x: number; y: number } {
  return { x: x + width / 2, y: y + height / 2 };
}

/** The position of a point of a view, given in parts of its width and height, with six decimals. */
export function positionAt(
  { x, y, width, height }: View,
  part: { x: number; y: number },
): { latitude: string; longitude: string } {
  const decimals = width > 100 ? 2 : 6;
  return {
    longitude: String(Number((x + part.x * width).toFixed(decimals))),
    latitude: String(Number((-(y + part.y * height)).toFixed(decimals))),
  };
}
