import { PMTiles, TileType } from 'pmtiles';
import type { OperatorMap } from './ground.ts';

/** The address of the base map, as a source of MapLibre. */
export const BASE_MAP = sourceOf(new URL('./base-map.pmtiles', import.meta.url).href);

function sourceOf(address: string): string {
  return `pmtiles://${new URL(address, location.href).href}`;
}

/** The map that the operator has put beside the data; undefined without one. */
export async function operatorMap(): Promise<OperatorMap | undefined> {
  const answer = await fetch('/basemap').catch(() => undefined);
  const { url } = answer?.ok ? ((await answer.json()) as { url: string | null }) : { url: null };
  if (url === null) return undefined;
  const source = sourceOf(url);
  try {
    const archive = new PMTiles(source.slice('pmtiles://'.length));
    const [header, metadata] = await Promise.all([archive.getHeader(), archive.getMetadata()]);
    const { vector_layers: layers = [], attribution } = metadata as {
      vector_layers?: { id: string }[];
      attribution?: string;
    };
    return {
      url: source,
      isRaster: header.tileType !== TileType.Mvt,
      layers: layers.map(({ id }) => id),
      // The archive is the operator's, but what MapLibre shows of it is HTML.
      attribution: attribution === undefined ? undefined : attribution.replaceAll(/<[^>]*>/g, ''),
      edges: { west: header.minLon, south: header.minLat, east: header.maxLon, north: header.maxLat },
    };
  } catch {
    return undefined;
  }
}
