import type { Map as MapLibreMap, PaddingOptions, VectorTileSource } from 'maplibre-gl';
import { edgesOfObservations } from './extent.ts';
import { loadTile } from './tiles.ts';
import { CLOSE_ZOOM, SINGLE_ZOOM } from './view.ts';

/** Degrees from north to south of what is taken for one place. */
const ONE_PLACE = 0.0005;

/** A map that is about to move to where its observations are. */
export interface Opening {
  /** Whether it has not moved yet: there are no observations, they are being looked for, or the connection is missing. */
  isWaiting(): boolean;
  stop(): void;
}

/**
 * Moves a map of the world to where its observations are, as soon as some come, unless a person moves it first.
 *
 * @param hasOperatorMap whether there is something around a single observation at a close view
 * @param room around what is fitted to, in pixels
 * @param failed called with the error if the search fails; the map searches again when it is loaded again
 */
export function openAtObservations(
  map: MapLibreMap,
  hasOperatorMap: boolean,
  room: () => PaddingOptions,
  failed: (error: unknown) => void,
): Opening {
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
    if (!edges) return;
    const [west, south, east, north] = edges;
    const isOne = Math.max(east - west, north - south) < ONE_PLACE;
    const maxZoom = isOne && !hasOperatorMap ? SINGLE_ZOOM : CLOSE_ZOOM;
    map.fitBounds([west, south, east, north], { padding: room(), maxZoom, animate: false });
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
