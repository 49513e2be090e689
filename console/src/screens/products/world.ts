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

function centreOf({ x, y, width, height }: View): { x: number; y: number } {
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
