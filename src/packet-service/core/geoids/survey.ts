import { checkArea, readBoundary } from '../../../geometry/boundary.ts';
import { type CellSet, coverCells, eachCell } from '../../../geometry/covers.ts';
import { type Ground, groundRegion } from '../../../geometry/polygon.ts';

const GROUND_LEVEL = 20;

/** The levels that fields are covered at, fine to coarse, from 35 metres to two kilometres: few, as each costs look-ups. */
export const COVER_LEVELS = [18, 16, 14, 12];
/** A field is covered at the finest level at which no more cells are needed. */
const COVER_CELLS = 24;

/** A boundary that was read and checked. */
export interface Survey {
  ground: Ground;
  /** the level-20 cells that the ground meets */
  cells: CellSet;
  /** the keys of the cells by which a field with this ground is found; empty if not requested */
  coverKeys: number[];
}

/**
 * Reads a geometry that a client sent. Takes about 15 µs a position.
 *
 * @param path the geometry's path in the request
 * @throws Problem invalid, naming `path`
 */
export function survey(geometry: unknown, path: string, withCovers: boolean): Survey {
  const ground = readBoundary(geometry, path);
  checkArea(ground.areaM2, path);
  return { ground, cells: cellsOfGround(ground), coverKeys: withCovers ? coverKeysOf(ground) : [] };
}

/** The level-20 cells that the ground meets. */
export function cellsOfGround(ground: Ground): CellSet {
  return coverCells(groundRegion(ground), GROUND_LEVEL) as CellSet;
}

function coverKeysOf(ground: Ground): number[] {
  for (const level of COVER_LEVELS) {
    const limit = level === COVER_LEVELS.at(-1) ? Infinity : COVER_CELLS;
    const cells = coverCells(groundRegion(ground), level, { limit });
    if (cells) return Array.from(eachCell(cells), index => cellKey(index, level));
  }
  return [];
}

/**
 * The key of a cell in field_cells: its 64-bit S2 id without the last 24 bits, which are zero down to level 18.
 * Unlike the id it is a positive integer that both a double and PostgreSQL's signed bigint hold, in the same order.
 */
export function cellKey(index: number, level: number): number {
  return (2 * index + 1) * 4 ** (18 - level);
}

/** The first and last of the keys of a cell and of all cells inside it. */
export function keysInside(index: number, level: number): { first: number; last: number } {
  const middle = cellKey(index, level);
  const half = 4 ** (18 - level) - 1;
  return { first: middle - half, last: middle + half };
}
