/** A place as GeoNames has it. */
export interface Place {
  name: string;
  lon: number;
  lat: number;
  /** alpha-2 */
  country: string;
}

/** How large a place is. */
export interface Sized extends Place {
  population: number;
  /** GeoNames' code of a kind of place: PPLC is a capital, PPLA the capital of a region */
  kind: string;
}

/** A place of the map. */
export interface Shown extends Place {
  /** the zoom from which on its name is drawn */
  from: number;
  isCapital: boolean;
}

/** Zooms at which places appear, each with the inhabitants that a place has at least. What has no room at the last is left out. */
const ZOOMS = [
  [2, 2_500_000],
  [3, 1_000_000],
  [4, 300_000],
  [5, 100_000],
  [6, 30_000],
  [7, 8_000],
  [8, 1_000],
  [9, 0],
  [10, 0],
  [11, 0],
] as const;
/** Parts of towns, farms, and what is gone: no places of their own. */
const NO_PLACES = new Set(['PPLF', 'PPLH', 'PPLL', 'PPLQ', 'PPLW', 'PPLX']);
/** Pixels between the names of two places. */
const APART = 72;
/** Pixels of a tile on the screen. */
const TILE_SIDE = 512;

/** Degrees within which a place of the same name, and any place, is taken for the same one. */
const SAME_NAME = 0.2;
const SAME_PLACE = 0.03;

/**
 * The places that a map has, with the zoom of each: larger ones first, and at each zoom as far apart as names need. So
 * villages appear early where there is nothing else, and late around cities.
 */
export function thinned(places: readonly Place[], sizes: readonly Sized[]): Shown[] {
  const sizeOf = sizeFinder(sizes);
  let waiting = places.flatMap(place => {
    const { population = 0, kind = '' } = sizeOf(place) ?? {};
    if (NO_PLACES.has(kind)) return [];
    const isCapital = kind === 'PPLC';
    // A capital comes before larger cities, those of regions before their neighbours.
    const factor = isCapital ? 8 : kind.startsWith('PPLA') ? 2 : 1;
    return [{ place, isCapital, weight: population * factor, ...squareOf(place) }];
  });
  waiting.sort(
    (a, b) => b.weight - a.weight || compare(a.place.name, b.place.name) || a.x - b.x || a.y - b.y,
  );
  type Waiting = (typeof waiting)[number];
  const shown: (Waiting & { from: number })[] = [];
  for (const [zoom, least] of ZOOMS) {
    const side = TILE_SIDE * 2 ** zoom;
    const taken = neighbours(APART / side);
    for (const { x, y } of shown) taken.add(x, y);
    const later: Waiting[] = [];
    for (const one of waiting) {
      if (one.weight < least || taken.has(one.x, one.y)) {
        later.push(one);
        continue;
      }
      taken.add(one.x, one.y);
      shown.push({ ...one, from: zoom });
    }
    waiting = later;
  }
  return shown.map(({ place, from, isCapital }) => ({ ...place, from, isCapital }));
}

/** Finds the size of a place: by its name, or by where it is, as spellings change. */
function sizeFinder(sizes: readonly Sized[]): (place: Place) => Sized | undefined {
  const byName = Map.groupBy(sizes, nameKey);
  const byPlace = Map.groupBy(sizes, ({ lon, lat }) => cellKey(lon, lat));
  const largest = (found: readonly Sized[]) =>
    found.reduce<Sized | undefined>(
      (most, one) => (most && most.population >= one.population ? most : one),
      undefined,
    );
  return place => {
    const isNear = (other: Place, degrees: number) =>
      Math.abs(other.lon - place.lon) < degrees && Math.abs(other.lat - place.lat) < degrees;
    const named = (byName.get(nameKey(place)) ?? []).filter(other => isNear(other, SAME_NAME));
    if (named.length > 0) return largest(named);
    const around = [-1, 0, 1].flatMap(dx =>
      [-1, 0, 1].flatMap(
        dy => byPlace.get(cellKey(place.lon + dx * SAME_PLACE, place.lat + dy * SAME_PLACE)) ?? [],
      ),
    );
    return largest(around.filter(other => other.country === place.country && isNear(other, SAME_PLACE)));
  };
}

const cellKey = (lon: number, lat: number) =>
  `${Math.floor(lon / SAME_PLACE)} ${Math.floor(lat / SAME_PLACE)}`;

/** Without accents and case. */
const nameKey = ({ country, name }: Place) =>
  `${country} ${name.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase()}`;

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Where a place is in the square of Web Mercator, 0 to 1. */
function squareOf({ lon, lat }: Place): { x: number; y: number } {
  return {
    x: (lon + 180) / 360,
    y: 0.5 - Math.asinh(Math.tan((lat * Math.PI) / 180)) / (2 * Math.PI),
  };
}

/** Points of which it can be asked whether one is within a distance. */
function neighbours(distance: number) {
  const cells = new Map<string, [number, number][]>();
  const cellOf = (x: number, y: number) => [Math.floor(x / distance), Math.floor(y / distance)] as const;
  return {
    add(x: number, y: number) {
      const key = cellOf(x, y).join();
      const known = cells.get(key);
      if (known) known.push([x, y]);
      else cells.set(key, [[x, y]]);
    },
    has(x: number, y: number): boolean {
      const [column, row] = cellOf(x, y);
      for (let dx = -1; dx <= 1; dx++) {
        for (let dy = -1; dy <= 1; dy++) {
          const points = cells.get(`${column + dx},${row + dy}`) ?? [];
          if (points.some(([px, py]) => Math.hypot(px - x, py - y) < distance)) return true;
        }
      }
      return false;
    },
  };
}
