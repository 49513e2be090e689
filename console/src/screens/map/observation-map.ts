import {
  addProtocol,
  type GeoJSONSource,
  type MapGeoJSONFeature,
  Map as MapLibreMap,
  NavigationControl,
  ScaleControl,
  setWorkerUrl,
} from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import './controls.css';
import { PMTiles, Protocol, TileType } from 'pmtiles';
import { feature } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import countriesUrl from 'world-atlas/countries-50m.json?url';
import { countryName } from '../../messages/format.ts';
import { t } from '../../messages/messages.svelte.ts';
import { namePoints, renamed } from '../../parts/maps/country-names.ts';
import { flattened } from '../../parts/maps/date-line.ts';
import { openAtObservations } from './opening.ts';
import { type ParcelNames, parcelNames } from './parcel-names.ts';
import { SQUARE, squareImage } from './square.ts';
import { type BaseMap, type Drawn, PICKED, styleOf } from './style.ts';
import { forgetAhead, forgetParcels, loadTile } from './tiles.ts';
import { type Edges, type View, WORLD } from './view.ts';

/** What was clicked. */
export type Picked =
  | { kind: 'packets'; ids: readonly string[] }
  | { kind: 'parcel'; geoid: string; name: string | undefined; areaM2: number | undefined };

/** The callbacks of the map. */
export interface MapListener {
  /** @param isWaiting whether it has not moved yet to where the observations are */
  moved(view: View, edges: Edges, isWaiting: boolean): void;
  picked(picked: Picked | undefined): void;
  /** a click while a field is being drawn */
  corner(lon: number, lat: number): void;
  /** whether tiles that are shown are incomplete */
  truncated(isTruncated: boolean): void;
  failed(error: unknown): void;
  /** whether something that it shows is not there yet */
  loading?(isLoading: boolean): void;
  /** the country in the middle; undefined at sea */
  country?(name: string | undefined): void;
}

/** A map of observations and fields. */
export interface ObservationMap {
  /** whether the map shows more than the borders of countries */
  readonly hasBaseMap: boolean;
  draw(drawn: Omit<Drawn, 'countries' | 'names' | 'parcelNames' | 'base'>): void;
  /** Reloads the tiles of observations. */
  refreshObservations(): void;
  /** Reloads the tiles of fields. */
  refreshParcels(): void;
  /** Reloads everything after tiles have failed, which a refresh leaves out. */
  loadAgain(): void;
  show(view: View): void;
  /** Goes to where the observations are, as a map without a view opens. */
  showObservations(): void;
  fit(edges: readonly [west: number, south: number, east: number, north: number]): void;
  setDrawing(isDrawing: boolean): void;
  remove(): void;
}

setWorkerUrl(workerUrl);
addProtocol('pmtiles', new Protocol().tile);
// Tiles of the services need the session, like every other request.
addProtocol('session', async ({ url }, { signal }) => ({
  data: await loadTile(url, signal),
}));

/**
 * Makes a map in an element; the base map is loaded first.
 *
 * @param options view: what the map shows; all observations if undefined
 */
export async function makeMap(
  container: HTMLElement,
  options: { view: View | undefined; label: string; listener: MapListener },
): Promise<ObservationMap> {
  const { view = WORLD, label, listener } = options;
  const [countries, base] = await Promise.all([loadCountries(), loadBase()]);
  const names = namePoints(countries);
  const map = new MapLibreMap({
    container,
    center: [view.lon, view.lat],
    zoom: view.zoom,
    maxZoom: 21,
    dragRotate: false,
    // Fading has the whole map drawn again and again for a third of a second after each tile.
    fadeDuration: 0,
    pitchWithRotate: false,
    attributionControl: { compact: true },
    locale: wordsOf(label),
  });
  map.touchZoomRotate.disableRotation();
  map.addControl(new NavigationControl({ showCompass: false }));
  map.addControl(new ScaleControl({ maxWidth: 90 }));
  map.setMissingStyleImageResolver(id => {
    if (id === SQUARE) map.addImage(id, squareImage(), { sdf: true });
  });
  const drawing = drawer(map, { countries, names, base });
  let opening = options.view ? undefined : openAtObservations(map, listener.failed);
  const moved = () => reportView(map, listener, opening?.isWaiting() === true);
  map.on('moveend', moved);
  reportState(map, listener);
  map.on('idle', () => {
    const parts = map.querySourceFeatures('fields', { sourceLayer: 'fields' });
    drawing.name(parcelNames(parts, edgesOf(map)));
  });
  const picking = pickByMouse(map, listener);
  const refresh = (source: string) => map.getSource(source) && map.refreshTiles(source);

  moved();
  return {
    hasBaseMap: base !== undefined,
    draw: drawing.draw,
    refreshObservations: () => refresh('observations'),
    refreshParcels() {
      forgetParcels();
      refresh('fields');
    },
    loadAgain() {
      forgetParcels();
      drawing.again();
    },
    show({ zoom, lat, lon }) {
      opening?.stop();
      map.jumpTo({ center: [lon, lat], zoom });
    },
    showObservations() {
      opening?.stop();
      opening = openAtObservations(map, listener.failed);
      map.jumpTo({ center: [WORLD.lon, WORLD.lat], zoom: WORLD.zoom });
    },
    fit(edges) {
      opening?.stop();
      map.fitBounds([...edges], { padding: 60, maxZoom: 17, animate: false });
    },
    setDrawing(isDrawing) {
      if (isDrawing) opening?.stop();
      picking.set(isDrawing);
    },
    remove: () => map.remove(),
  };
}

type ToDraw = Parameters<ObservationMap['draw']>[0];

/** Sets the style of a map, sets it again for a retry, and updates the names of fields. */
function drawer(map: MapLibreMap, kept: Pick<Drawn, 'countries' | 'names' | 'base'>) {
  let last: ToDraw | undefined;
  let attempt = 0;
  // MapLibre never asks again for a tile that has failed, unless its source has another address.
  const ofAttempt = (address: string) => (attempt === 0 ? address : `${address}#${attempt}`);
  let named: ParcelNames = { type: 'FeatureCollection', features: [] };
  const draw = (drawn: ToDraw) => {
    // A style that is still being loaded cannot be compared.
    const diff = last !== undefined && map.isStyleLoaded() === true;
    last = drawn;
    const [observations, fields] = [ofAttempt(drawn.observations), ofAttempt(drawn.fields)];
    map.setStyle(styleOf({ ...drawn, observations, fields, parcelNames: named, ...kept }), { diff });
  };
  const again = () => {
    attempt++;
    if (last) draw(last);
  };
  const name = (names: ParcelNames) => {
    // The map is idle again when they are drawn.
    if (JSON.stringify(names) === JSON.stringify(named)) return;
    named = names;
    map.getSource<GeoJSONSource>('parcel-names')?.setData(named);
  };
  return { draw, again, name };
}

/** Reports failures, loading, and what is loaded. */
function reportState(map: MapLibreMap, listener: MapListener): void {
  map.on('error', ({ error }) => listener.failed(error));
  map.on('sourcedataloading', () => listener.loading?.(true));
  // A map can have all tiles and be drawn again and again, so that it is not idle.
  map.on('sourcedata', () => map.areTilesLoaded() && listener.loading?.(false));
  map.on('idle', () => {
    listener.loading?.(false);
    forgetAhead();
    const [land] = map.queryRenderedFeatures(map.project(map.getCenter()), { layers: ['land'] });
    listener.country?.(land?.properties.name);
    const sources = ['observations', 'fields'];
    listener.truncated(
      sources.some(source => map.querySourceFeatures(source, { sourceLayer: 'truncated' }).length > 0),
    );
  });
}

/** Reports the part of the world that the map shows. */
function reportView(map: MapLibreMap, listener: MapListener, isWaiting: boolean): void {
  const { lng: lon, lat } = map.getCenter().wrap();
  listener.moved({ zoom: map.getZoom(), lat, lon }, edgesOf(map), isWaiting);
}

function edgesOf(map: MapLibreMap): Edges {
  const bounds = map.getBounds();
  return {
    west: bounds.getWest(),
    south: bounds.getSouth(),
    east: bounds.getEast(),
    north: bounds.getNorth(),
  };
}

/** What MapLibre says, in the language of the console. */
const wordsOf = (label: string) => ({
  'Map.Title': label,
  'NavigationControl.ZoomIn': t('products.map.in'),
  'NavigationControl.ZoomOut': t('products.map.out'),
  'AttributionControl.ToggleAttribution': t('map.sources'),
});

/** Reports what is clicked, or the corners of a field while one is drawn. */
function pickByMouse(map: MapLibreMap, listener: MapListener): { set(isDrawing: boolean): void } {
  let isDrawing = false;
  map.on('click', ({ point, lngLat }) => {
    if (isDrawing) {
      listener.corner(lngLat.lng, lngLat.lat);
      return;
    }
    const near: [[number, number], [number, number]] = [
      [point.x - 4, point.y - 4],
      [point.x + 4, point.y + 4],
    ];
    const layers = PICKED.filter(layer => map.getLayer(layer));
    const all = map.queryRenderedFeatures(near, { layers });
    const [found] = all;
    const picked = found && pickedOf(found, all);
    if (found && !picked) map.easeTo({ center: pointOf(found) ?? lngLat, zoom: map.getZoom() + 2 });
    else listener.picked(picked);
  });
  map.on('mousemove', ({ point }) => {
    const layers = PICKED.filter(layer => map.getLayer(layer));
    const isOver = layers.length > 0 && map.queryRenderedFeatures(point, { layers }).length > 0;
    map.getCanvas().style.cursor = isDrawing ? 'crosshair' : isOver ? 'pointer' : '';
  });
  return {
    set(drawing) {
      isDrawing = drawing;
      map.getCanvas().style.cursor = drawing ? 'crosshair' : '';
    },
  };
}

/** A single field, or all observations at a place; undefined for a cluster. @param all what else is there */
function pickedOf(
  { properties, source }: MapGeoJSONFeature,
  all: readonly MapGeoJSONFeature[],
): Picked | undefined {
  if (source === 'observations') {
    if (properties.id === undefined) return undefined;
    const ids = all.filter(other => other.source === source).flatMap(other => other.properties.id ?? []);
    return { kind: 'packets', ids: [...new Set<string>(ids)] };
  }
  const { geoid, name, area_m2: areaM2 } = properties;
  return geoid === undefined ? undefined : { kind: 'parcel', geoid, name, areaM2 };
}

function pointOf({ geometry }: MapGeoJSONFeature): [number, number] | undefined {
  return geometry.type === 'Point' ? (geometry.coordinates as [number, number]) : undefined;
}

async function loadCountries(): Promise<GeoJSON.FeatureCollection> {
  const answer = await fetch(countriesUrl);
  const topology = (await answer.json()) as Topology<{ countries: GeometryCollection }>;
  return renamed(flattened(feature(topology, topology.objects.countries)), countryName);
}

/** The base map in the operator's data folder; undefined without one. */
async function loadBase(): Promise<BaseMap | undefined> {
  const answer = await fetch('/basemap').catch(() => undefined);
  const { url } = answer?.ok ? ((await answer.json()) as { url: string | null }) : { url: null };
  if (url === null) return undefined;
  const address = new URL(url, location.href).href;
  try {
    const archive = new PMTiles(address);
    const [{ tileType }, metadata] = await Promise.all([archive.getHeader(), archive.getMetadata()]);
    const { vector_layers: layers = [], attribution } = metadata as {
      vector_layers?: { id: string }[];
      attribution?: string;
    };
    return {
      url: `pmtiles://${address}`,
      isRaster: tileType !== TileType.Mvt,
      layers: layers.map(({ id }) => id),
      // The archive is the operator's, but what MapLibre shows of it is HTML.
      attribution: attribution === undefined ? undefined : attribution.replaceAll(/<[^>]*>/g, ''),
    };
  } catch {
    return undefined;
  }
}
