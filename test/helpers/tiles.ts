import { VectorTile, type VectorTileFeature } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';

/** A feature of a tile, as a map reads it. */
export interface TileFeature {
  layer: string;
  // biome-ignore lint/suspicious/noExplicitAny: properties are looked into by tests
  properties: Record<string, any>;
  /** in units of the tile, 4096 along each side; rings of a polygon, or a point in a list of its own */
  positions: [x: number, y: number][][];
  /** in degrees */
  geometry: { type: string; coordinates: unknown };
}

/** A tile of a running service, decoded by Mapbox's own reader. */
export async function tileAt(
  { url }: { url: string },
  layer: 'observations' | 'fields',
  [z, x, y]: readonly [number, number, number],
  query = '',
): Promise<TileFeature[]> {
  const response = await fetch(`${url}/tiles/${layer}/${z}/${x}/${y}.mvt${query}`);
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (response.status !== 200) throw new Error(`${response.status}: ${new TextDecoder().decode(bytes)}`);
  return decodeTile(bytes, [z, x, y]);
}

export function decodeTile(bytes: Uint8Array, [z, x, y]: readonly [number, number, number]): TileFeature[] {
  const { layers } = new VectorTile(new PbfReader(bytes));
  return Object.values(layers).flatMap(layer =>
    Array.from({ length: layer.length }, (_, index) => {
      const feature: VectorTileFeature = layer.feature(index);
      return {
        layer: layer.name,
        properties: feature.properties,
        positions: feature
          .loadGeometry()
          .map(ring => ring.map(point => [point.x, point.y] as [number, number])),
        geometry: feature.toGeoJSON(x, y, z).geometry as TileFeature['geometry'],
      };
    }),
  );
}

/** How many observations or fields the points of a tile stand for. */
export function sumOf(features: readonly TileFeature[]): number {
  return features.reduce((sum, { properties }) => sum + (properties.count ?? 0), 0);
}
