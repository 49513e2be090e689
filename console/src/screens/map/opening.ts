import type { Map as MapLibreMap, VectorTileSource } from 'maplibre-gl';
import { edgesOfObservations } from './extent.ts';
import { loadTile } from './tiles.ts';
import { CLOSE_ZOOM } from './view.ts';

/** Pixels around what is fitted to. */
const PADDING = 60;

/** A map that is about to move to where its observations are. */
export interface Opening {
  /** Whether it has not moved yet: there are no observations, they are being looked for, or the connection is missing. */
  isWaiting(): boolean;
  stop(): void;
}

/**
 * Moves a map of the world to where its observations are, as soon as some come, unless a person moves it first.
 *
 * @param failed called with the error if the search fails; the map searches again when it is loaded again
 */
export function openAtObservations(map: MapLibreMap, failed: (error: unknown) => void): Opening {
  const stopping = new AbortController();
  const { signal } = stopping;
  let isLooking = false;
  const come = () => {
    if (isLooking || !hasObservations(map)) return;
    isLooking = true;
    look().catch(error => {
      isLooking = false;
      if (!signal.aborted) failed(error);
    });
  };
  const look = async () => {
    const [address = ''] = map.getSource<VectorTileSource>('observations')?.tiles ?? [];
    const edges = await edgesOfObservations(({ z, x, y }) =>
      loadTile(address.replace('{z}/{x}/{y}', `${z}/${x}/${y}`), signal),
    );
    if (signal.aborted) return;
    stop();
    if (edges) map.fitBounds(edges, { padding: PADDING, maxZoom: CLOSE_ZOOM, animate: false });
  };
  const moved = ({ originalEvent }: { originalEvent?: unknown }) => {
    if (originalEvent) stop();
  };
  const stop = () => {
    stopping.abort();
    map.off('idle', come);
    map.off('movestart', moved);
  };
  map.on('idle', come);
  map.on('movestart', moved);
  map.on('remove', stop);
  return { isWaiting: () => !signal.aborted, stop };
}

/** Whether the map shows observations: tiles may have failed, or be filled by the next one. */
function hasObservations(map: MapLibreMap): boolean {
  if (!map.getSource('observations') || !map.isSourceLoaded('observations')) return false;
  return map.querySourceFeatures('observations', { sourceLayer: 'observations' }).length > 0;
}
