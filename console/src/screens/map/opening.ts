import type { Map as MapLibreMap } from 'maplibre-gl';
import { edgesAround } from './view.ts';

/**
 * Up to which zooms a map that opens comes nearer, one after the other: what is one cluster on the world's tile becomes
 * several places on those of the next zoom.
 */
const STEPS = [5, 11];
/** Pixels around what is fitted to. */
const PADDING = 60;

/** A map that is about to move to where its observations are. */
export interface Opening {
  /** Whether no observation has come yet: there are none, or the connection is missing. */
  isWaiting(): boolean;
  stop(): void;
}

/** Moves a map of the world to where its observations are, as soon as some come, unless a person moves it first. */
export function openAtObservations(map: MapLibreMap): Opening {
  let step = 0;
  let isStopped = false;
  const come = () => {
    if (!map.getSource('observations') || !map.isSourceLoaded('observations')) return;
    const points = map
      .querySourceFeatures('observations', { sourceLayer: 'observations' })
      .flatMap(({ geometry }) => (geometry.type === 'Point' ? [geometry.coordinates] : []));
    // Tiles that have failed are asked for again, and others may be filled by the next observation.
    if (points.length === 0) return;
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
    isStopped = true;
    map.off('idle', come);
    map.off('movestart', moved);
  };
  map.on('idle', come);
  map.on('movestart', moved);
  return { isWaiting: () => step === 0 && !isStopped, stop };
}
