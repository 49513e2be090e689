import type { Points } from '../../core/packets/tile-store.ts';
import { squareOf, type Tile } from './mercator.ts';
import type { Cluster } from './store.ts';

/** The level of the cells of points. */
const POINT_LEVEL = 20;

interface Group {
  count: number;
  x: number;
  y: number;
  /** of the first point */
  index: number;
}

/**
 * The points of a tile, grouped by the S2 cells of a level.
 *
 * @returns in the order of their cells, each with its mean position
 */
export function cut(points: Points, tile: Tile, level: number): Cluster[] {
  const { x: west, y: north, size } = squareOf(tile);
  const { count, xs, ys, cells, ids } = points;
  const divisor = 4 ** (POINT_LEVEL - level);
  const groups = new Map<number, Group>();
  for (let index = 0; index < count; index++) {
    const [x, y] = [xs[index] as number, ys[index] as number];
    if (x < west || x >= west + size || y < north || y >= north + size) continue;
    const cell = Math.floor((cells[index] as number) / divisor);
    const group = groups.get(cell);
    if (!group) {
      groups.set(cell, { count: 1, x, y, index });
      continue;
    }
    group.count++;
    group.x += x;
    group.y += y;
  }
  return [...groups]
    .sort(([a], [b]) => a - b)
    .map(([cell, group]) => ({
      count: group.count,
      x: Math.floor(group.x / group.count),
      y: Math.floor(group.y / group.count),
      cell,
      single: group.count === 1 ? uuidAt(ids, group.index) : null,
    }));
}

function uuidAt(ids: Buffer, index: number): string {
  const hex = ids.toString('hex', index * 16, index * 16 + 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
