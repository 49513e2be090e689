import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';

/** A tile of observations. */
interface Tile {
  z: number;
  x: number;
  y: number;
}

/** A part of the square that the world is in Web Mercator, 0 to 1 from the antimeridian and from the north. */
interface Box {
  west: number;
  north: number;
  east: number;
  south: number;
}

/** Maximum tiles per zoom: a box as wide as two tiles meets no more. */
const MAX_TILES = 9;
/** Zoom at which the whole world is few tiles. */
const FIRST_ZOOM = 2;
/** Last zoom that is requested: positions are exact to a decimetre and observations are single. */
const LAST_ZOOM = 16;
/** The longest diagonal of an S2 cell of level 0, in radians; it halves with each level. */
const DIAGONAL = 2.44;
const LEVELS = 30;
/** Hexadecimal digits of the id of a cell; its token leaves out the zeros at the end. */
const DIGITS = 16;
/** Degrees of latitude at which Web Mercator ends. */
const EDGE_LATITUDE = 85.0511;

/**
 * The edges in degrees around all observations. A cluster stands where its observations are on average, so that they can
 * be anywhere in its cell: tiles around that are asked for at nearer zooms, until these would be too many.
 *
 * @param ask gives the bytes of a tile
 * @returns undefined without observations, and if they are on both sides of the world, which no smaller part of it shows
 */
export async function edgesOfObservations(
  ask: (tile: Tile) => Promise<ArrayBuffer>,
): Promise<[west: number, south: number, east: number, north: number] | undefined> {
  let found: Box | undefined;
  let tiles: Tile[] = [{ z: 0, x: 0, y: 0 }];
  for (let zoom = 0; ; ) {
    const boxes = (await Promise.all(tiles.map(async tile => boxesIn(await ask(tile), tile)))).flat();
    // What was there before may have been erased.
    if (boxes.length === 0) break;
    found = {
      west: Math.min(...boxes.map(({ west }) => west)),
      north: Math.min(...boxes.map(({ north }) => north)),
      east: Math.max(...boxes.map(({ east }) => east)),
      south: Math.max(...boxes.map(({ south }) => south)),
    };
    const nearer = nearestTiles(found);
    if (nearer.zoom <= zoom) break;
    ({ zoom, tiles } = nearer);
  }
  if (!found || found.east - found.west > 0.5) return undefined;
  const { west, north, east, south } = found;
  return [longitudeOf(west), latitudeOf(south), longitudeOf(east), latitudeOf(north)];
}

/** The tiles around a box at the nearest zoom at which they are few. */
function nearestTiles({ west, north, east, south }: Box): { zoom: number; tiles: Tile[] } {
  for (let zoom = LAST_ZOOM; ; zoom--) {
    const count = 2 ** zoom;
    const numberOf = (part: number) => Math.max(0, Math.min(count - 1, Math.floor(part * count)));
    const [first, last] = [numberOf(west), numberOf(east)];
    const [top, bottom] = [numberOf(north), numberOf(south)];
    const columns = last - first + 1;
    if (zoom > FIRST_ZOOM && columns * (bottom - top + 1) > MAX_TILES) continue;
    const tiles = Array.from({ length: columns * (bottom - top + 1) }, (_, n) => ({
      z: zoom,
      x: first + (n % columns),
      y: top + Math.floor(n / columns),
    }));
    return { zoom, tiles };
  }
}

/** Where the observations of each point of a tile can be. */
function boxesIn(bytes: ArrayBuffer, { z, x, y }: Tile): Box[] {
  const layer = new VectorTile(new PbfReader(new Uint8Array(bytes))).layers.observations;
  return Array.from({ length: layer?.length ?? 0 }, (_, index): Box => {
    const feature = (layer as NonNullable<typeof layer>).feature(index);
    const [[point] = []] = feature.loadGeometry();
    const unit = 1 / feature.extent / 2 ** z;
    const [west, north] = [x / 2 ** z + (point?.x ?? 0) * unit, y / 2 ** z + (point?.y ?? 0) * unit];
    const { count, cell } = feature.properties;
    const isOne = Number(count) <= 1 || typeof cell !== 'string';
    return around({ west, north, east: west + unit, south: north + unit }, isOne ? 0 : diagonalOf(cell));
  });
}

/** The longest diagonal of a cell, in radians. */
function diagonalOf(token: string): number {
  const last = Number.parseInt(token.at(-1) ?? '0', 16);
  const zeros = 4 * (DIGITS - token.length) + Math.log2(last & -last);
  return DIAGONAL / 2 ** (LEVELS - zeros / 2);
}

/** A box and what is within some radians of it. */
function around({ west, north, east, south }: Box, radians: number): Box {
  const [top, bottom] = [latitudeOf(north), latitudeOf(south)];
  // The nearer to a pole, the more degrees of longitude.
  const cosine = Math.cos((Math.max(Math.abs(top), Math.abs(bottom)) * Math.PI) / 180);
  const reach = Math.asin(Math.min(1, Math.sin(radians) / cosine)) / (2 * Math.PI);
  const degrees = radians * (180 / Math.PI);
  return {
    west: Math.max(0, west - reach),
    north: partOf(Math.min(EDGE_LATITUDE, top + degrees)),
    east: Math.min(1, east + reach),
    south: partOf(Math.max(-EDGE_LATITUDE, bottom - degrees)),
  };
}

const longitudeOf = (part: number) => part * 360 - 180;
const latitudeOf = (part: number) => Math.atan(Math.sinh(Math.PI * (1 - 2 * part))) * (180 / Math.PI);
const partOf = (latitude: number) => 0.5 - Math.asinh(Math.tan((latitude * Math.PI) / 180)) / (2 * Math.PI);
