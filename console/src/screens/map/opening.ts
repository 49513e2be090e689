import type { Map as MapLibreMap } from 'maplibre-gl';
import { edgesAround } from './view.ts';

/**
 * Up to which zooms a map that opens comes nearer, one after the other: what is one cluster on the world's tile becomes
 * several places on those of the next zoom.
 */
const STEPS = [5, 11];
/** Pixels around what is fitted to. */
const PADDING = 60;

/** Moves a map of the world to where its observations are, unless a person moves it first. */
export function openAtObservations(map: MapLibreMap): { stop(): void } {
  let step = 0;
  const come = () => {
    if (!map.getSource('observations') || !map.isSourceLoaded('observations')) return;
    const points = map
      .querySourceFeatures('observations', { sourceLayer: 'observations' })
      .flatMap(({ geometry }) => (geometry.type === 'Point' ? [geometry.coordinates] : []));
    const edges = edgesAround(points);
    const maxZoom = STEPS[step++];
    if (!edges || maxZoom === undefined) {
      stop();
      return;
    }
    map.fitBounds(edges, { padding: PADDING, maxZoom, animate: false });
  };
  const moved = ({ originalEvent }: { originalEvent?: unknown }) => {
    if (originalEvent) stop();
  };
  const stop = () => {
    map.off('idle', come);
    map.off('movestart', moved);
  };
  map.on('idle', come);
  map.on('movestart', moved);
  return { stop };
}
