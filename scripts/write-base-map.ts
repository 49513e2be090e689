// npm run base-map: writes the base map of the console from packages. Its result is in the repository, as it changes only
// with them.
import { writeFileSync } from 'node:fs';
import { BASE_MAP_ZOOM, PLACES_ZOOM } from '../console/src/parts/maps/base-map.ts';
import { archiveOf } from './base-map/archive.ts';
import { baseMapLayers } from './base-map/layers.ts';
import { tilesOf } from './base-map/tiles.ts';

const RESULT = new URL('../console/src/parts/maps/base-map.pmtiles', import.meta.url);

const layers = baseMapLayers();
const tiles = [
  ...tilesOf(layers, { first: 0, last: BASE_MAP_ZOOM - 1, tolerance: 3 }),
  // Drawn larger, angles would show.
  ...tilesOf(layers, { first: BASE_MAP_ZOOM, last: BASE_MAP_ZOOM, tolerance: 2 }),
  // So that a view of the zoom before does not load all villages.
  ...tilesOf({ places: layers.places }, { first: PLACES_ZOOM, last: PLACES_ZOOM, tolerance: 0 }, true),
];
const archive = archiveOf(tiles, {
  name: 'fieldtrace base map',
  attribution: 'Natural Earth, GeoNames (CC BY 4.0)',
  vector_layers: Object.keys(layers).map(id => ({ id, fields: {} })),
});
writeFileSync(RESULT, archive);
console.log(`${RESULT.pathname.split('/').at(-1)}: ${(archive.length / 1e6).toFixed(2)} MB`);
