import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import { tileAddress } from './tile-address.ts';
import { loadTile } from './tiles.ts';

/** How many observations there are. */
export interface ObservationCount {
  count: number;
  /** whether there may be more */
  isLeast: boolean;
}

/** Counts the observations of a field: they are in the tile of the world. */
export async function countObservations(geoid: string, signal: AbortSignal): Promise<ObservationCount> {
  const address = tileAddress('observations', { geoid }).replace('{z}/{x}/{y}', '0/0/0');
  const { layers } = new VectorTile(new PbfReader(new Uint8Array(await loadTile(address, signal))));
  const { observations, truncated } = layers;
  const counts = Array.from({ length: observations?.length ?? 0 }, (_, index) =>
    Number(observations?.feature(index).properties.count ?? 1),
  );
  return { count: counts.reduce((sum, count) => sum + count, 0), isLeast: truncated !== undefined };
}
