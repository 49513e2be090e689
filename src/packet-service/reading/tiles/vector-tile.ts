import { PbfWriter } from 'pbf';

/** Units along each side of a tile. */
export const EXTENT = 4096;

/** A position in a tile, in whole units from its north-western corner; polygons reach over its edges. */
export type TilePoint = readonly [x: number, y: number];

/** A feature on a map: a point, or a polygon as rings without their closing position, the outer ones clockwise. */
export interface Feature {
  geometry: { point: TilePoint } | { rings: readonly (readonly TilePoint[])[] };
  /** undefined ones are left out; numbers that are integers from 0 are written as such */
  properties: Record<string, string | number | undefined>;
}

const VERSION = 2;
const POINT = 1;
const POLYGON = 3;
const MOVE_TO = 1;
const LINE_TO = 2;
const CLOSE_PATH = 7;

/**
 * Writes layers as a Mapbox Vector Tile, version 2 (github.com/mapbox/vector-tile-spec). Layers without features are
 * left out, as the specification asks.
 */
export function vectorTile(layers: Record<string, readonly Feature[]>): Buffer {
  const tile = new PbfWriter(new Uint8Array(4096));
  for (const layer of Object.entries(layers)) {
    if (layer[1].length > 0) tile.writeMessage(3, writeLayer, layer);
  }
  const { buffer, byteOffset, length } = tile.finish();
  return Buffer.from(buffer, byteOffset, length);
}

function writeLayer([name, features]: [string, readonly Feature[]], tile: PbfWriter): void {
  writeText(tile, 1, name);
  const keys = indexer<string>();
  const values = indexer<string | number>();
  const tags: number[] = [];
  for (const { geometry, properties } of features) {
    tags.length = 0;
    for (const key in properties) {
      const value = properties[key];
      if (value !== undefined) tags.push(keys.indexOf(key), values.indexOf(value));
    }
    tile.writeMessage(2, writeFeature, { tags, geometry });
  }
  for (const key of keys.all()) writeText(tile, 3, key);
  for (const value of values.all()) tile.writeMessage(4, writeValue, value);
  tile.writeVarintField(5, EXTENT);
  tile.writeVarintField(15, VERSION);
}

function writeFeature({ tags, geometry }: Pick<Feature, 'geometry'> & { tags: number[] }, tile: PbfWriter) {
  tile.writePackedVarint(2, tags);
  tile.writeVarintField(3, 'point' in geometry ? POINT : POLYGON);
  tile.writePackedVarint(4, commandsOf(geometry));
}

/** Gives each value a number, the same for the same value. */
function indexer<Value>(): { indexOf(value: Value): number; all(): Iterable<Value> } {
  const indexes = new Map<Value, number>();
  return {
    indexOf(value) {
      const known = indexes.get(value);
      if (known !== undefined) return known;
      indexes.set(value, indexes.size);
      return indexes.size - 1;
    },
    all: () => indexes.keys(),
  };
}

/** Like pbf's writeStringField, which changes characters from U+20000 on, such as rare Chinese ones. */
function writeText(tile: PbfWriter, field: number, text: string): void {
  tile.writeBytesField(field, Buffer.from(text));
}

function writeValue(value: string | number, tile: PbfWriter): void {
  if (typeof value === 'string') writeText(tile, 1, value);
  else if (Number.isSafeInteger(value) && value >= 0) tile.writeVarintField(5, value);
  else tile.writeDoubleField(3, value);
}

function commandsOf(geometry: Feature['geometry']): number[] {
  const commands: number[] = [];
  let [lastX, lastY] = [0, 0];
  const go = ([x, y]: TilePoint) => {
    commands.push(zigzag(x - lastX), zigzag(y - lastY));
    [lastX, lastY] = [x, y];
  };
  if ('point' in geometry) {
    commands.push(command(MOVE_TO, 1));
    go(geometry.point);
    return commands;
  }
  for (const [first, ...others] of geometry.rings as [TilePoint, ...TilePoint[]][]) {
    commands.push(command(MOVE_TO, 1));
    go(first);
    commands.push(command(LINE_TO, others.length));
    for (const position of others) go(position);
    commands.push(command(CLOSE_PATH, 1));
  }
  return commands;
}

function command(id: number, count: number): number {
  return count * 8 + id;
}

function zigzag(value: number): number {
  return value < 0 ? -2 * value - 1 : 2 * value;
}
