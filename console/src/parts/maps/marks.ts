import { pixelOf, placeOf, TILE_SIDE } from './mercator.ts';

/** Something that a map has at a place: one thing, or several that its tiles count together. */
export interface Counted {
  lon: number;
  lat: number;
  count: number;
  /** of one thing */
  id?: string;
}

/** The things that are drawn as one mark. */
export interface Mark<Of extends Counted = Counted> {
  lon: number;
  lat: number;
  count: number;
  members: readonly Of[];
}

/** Pixels between two marks. */
const GAP = 4;
/** Half of the width of a mark in pixels by the power of ten of its count; between them it grows evenly. */
export const RADII = [
  [0, 6],
  [1, 13],
  [3, 18],
  [6, 26],
] as const;
const LARGEST = 26;

/** Half of the width of a mark. */
export function radiusOf(count: number): number {
  const power = Math.log10(Math.max(1, count));
  for (const [index, [to, radius]] of RADII.entries()) {
    const [from, before] = RADII[index - 1] ?? [0, radius];
    if (power <= to)
      return to === from ? radius : before + ((power - from) / (to - from)) * (radius - before);
  }
  return LARGEST;
}

interface Placed<Of extends Counted> {
  x: number;
  y: number;
  count: number;
  members: readonly Of[];
}

const radiusOfMark = ({ count }: { count: number }) => radiusOf(count);

/**
 * Marks that do not overlap: those that would are one, in the middle of all that it stands for. Tiles group things in
 * cells that are narrower than a mark.
 *
 * @param zoom nearer ones, up to the next whole zoom, have the marks further apart
 */
export function marksOf<Of extends Counted>(things: readonly Of[], zoom: number): Mark<Of>[] {
  const side = TILE_SIDE * 2 ** Math.floor(zoom);
  let marks = things.map(
    (thing): Placed<Of> => ({
      ...pixelOf(thing.lon, thing.lat, side),
      count: thing.count,
      members: [thing],
    }),
  );
  for (;;) {
    const merged = merge(marks);
    if (merged.length === marks.length) break;
    marks = merged;
  }
  return marks.map(({ x, y, count, members }) => ({ ...placeOf(x, y, side), count, members }));
}

/** Marks with those that overlap a larger one in it. */
function merge<Of extends Counted>(marks: readonly Placed<Of>[]): Placed<Of>[] {
  const sorted = marks.toSorted((a, b) => b.count - a.count || a.x - b.x || a.y - b.y);
  const kept = cells<Placed<Of>[]>();
  const groups: Placed<Of>[][] = [];
  for (const mark of sorted) {
    const near = kept.around(mark).find(([first]) => isOver(mark, first as Placed<Of>));
    if (near) near.push(mark);
    else {
      const group = [mark];
      groups.push(group);
      kept.add(mark, group);
    }
  }
  return groups.map(group => {
    if (group.length === 1) return group[0] as Placed<Of>;
    const count = group.reduce((sum, mark) => sum + mark.count, 0);
    const mean = (of: (mark: Placed<Of>) => number) =>
      group.reduce((sum, mark) => sum + of(mark) * mark.count, 0) / count;
    return {
      x: mean(({ x }) => x),
      y: mean(({ y }) => y),
      count,
      members: group.flatMap(({ members }) => members),
    };
  });
}

interface Round {
  x: number;
  y: number;
  count: number;
}

function isOver(one: Round, other: Round): boolean {
  return Math.hypot(one.x - other.x, one.y - other.y) < radiusOfMark(one) + radiusOfMark(other) + GAP;
}

/**
 * Marks of another kind, moved beside those that they would cover; where there is no room, they stay.
 *
 * @param others marks that stay where they are
 */
export function beside<Of extends Counted>(
  marks: readonly Mark<Of>[],
  others: readonly Mark[],
  zoom: number,
): Mark<Of>[] {
  const side = TILE_SIDE * 2 ** Math.floor(zoom);
  const taken = cells<Round>();
  for (const { lon, lat, count } of others) {
    const at = { ...pixelOf(lon, lat, side), count };
    taken.add(at, at);
  }
  const sorted = marks.toSorted((a, b) => b.count - a.count || a.lon - b.lon || a.lat - b.lat);
  return sorted.map(mark => {
    const { count } = mark;
    const own = { ...pixelOf(mark.lon, mark.lat, side), count };
    const over = taken.around(own).filter(other => isOver(own, other));
    const ways = over.flatMap(other => {
      // A little more, as numbers are rounded.
      const far = radiusOfMark(own) + radiusOfMark(other) + GAP + 0.5;
      return [
        { x: other.x + far, y: other.y, count },
        { x: other.x - far, y: other.y, count },
        { x: other.x, y: other.y + far, count },
        { x: other.x, y: other.y - far, count },
      ];
    });
    const free = [own, ...ways].find(way => !taken.around(way).some(other => isOver(way, other)));
    const at = free ?? own;
    taken.add(at, at);
    return { ...mark, ...placeOf(at.x, at.y, side) };
  });
}

/** An index of things by place, for finding those around a place. */
function cells<Of>() {
  const width = 2 * LARGEST + GAP;
  const known = new Map<string, Of[]>();
  const cellOf = ({ x, y }: { x: number; y: number }) =>
    [Math.floor(x / width), Math.floor(y / width)] as const;
  return {
    add(at: { x: number; y: number }, what: Of) {
      const key = cellOf(at).join();
      const there = known.get(key);
      if (there) there.push(what);
      else known.set(key, [what]);
    },
    around(at: { x: number; y: number }): Of[] {
      const [column, row] = cellOf(at);
      const steps = [-1, 0, 1];
      return steps.flatMap(dx => steps.flatMap(dy => known.get(`${column + dx},${row + dy}`) ?? []));
    },
  };
}
