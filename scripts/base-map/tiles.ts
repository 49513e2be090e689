import { GeoJSONVT } from '@maplibre/geojson-vt';
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import type { FeatureCollection } from 'geojson';
import type { Tile } from './archive.ts';

/** Units of a tile beyond its edges, so that lines of some width are whole. */
const BUFFER = 64;
const EXTENT = 4096;

/** The layers of a map, by their names. */
export type Layers = Readonly<Record<string, FeatureCollection>>;

/** Tiles to make. */
export interface Zooms {
  first: number;
  last: number;
  /** in units of a tile: what is flatter is a straight line */
  tolerance: number;
}

/**
 * All tiles of some zooms with something in them. A feature with a property `from` is in those of that zoom and beyond.
 *
 * @param hasAll whether the tiles have every feature, also those that appear when they are drawn larger
 */
export function tilesOf(layers: Layers, { first, last, tolerance }: Zooms, hasAll = false): Tile[] {
  // The last zoom of an index is not simplified at all.
  const options = { maxZoom: last + 1, indexMaxZoom: last, indexMaxPoints: 0 };
  const indexes = Object.entries(layers).map(([name, data]) => {
    const index = new GeoJSONVT(data, { ...options, tolerance, buffer: BUFFER, extent: EXTENT });
    return { name, index };
  });
  const tiles: Tile[] = [];
  const visit = (z: number, x: number, y: number) => {
    const found = indexes.flatMap(({ name, index }) => {
      const tile = index.getTile(z, x, y);
      return tile && tile.features.length > 0 ? [{ name, tile }] : [];
    });
    if (found.length === 0) return;
    if (z >= first) {
      const shown = found.flatMap(({ name, tile }) => {
        const features = tile.features.filter(
          ({ tags }: { tags?: { from?: number } | null }) => hasAll || (tags?.from ?? 0) <= z,
        );
        return features.length > 0 ? [[name, { ...tile, features }] as const] : [];
      });
      const data = fromGeojsonVt(Object.fromEntries(shown), { version: 2, extent: EXTENT });
      if (shown.length > 0) tiles.push({ z, x, y, data: new Uint8Array(data) });
    }
    if (z === last) return;
    for (const dy of [0, 1]) for (const dx of [0, 1]) visit(z + 1, 2 * x + dx, 2 * y + dy);
  };
  visit(0, 0, 0);
  return tiles;
}
