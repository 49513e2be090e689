import {
  addProtocol,
  type GeoJSONSource,
  type MapGeoJSONFeature,
  Map as MapLibreMap,
  NavigationControl,
  type PaddingOptions,
  ScaleControl,
  setWorkerUrl,
} from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import 'maplibre-gl/dist/maplibre-gl.css';
import './controls.css';
import { Protocol } from 'pmtiles';
import { countryName, formatNumber } from '../../messages/format.ts';
import { t } from '../../messages/messages.svelte.ts';
import { BASE_MAP, operatorMap } from './archives.ts';
import { codesByName } from './country-names.ts';
import { graticuleOf } from './graticule.ts';
import { CONTEXT, GRATICULE_ZOOM, type OperatorMap } from './ground.ts';
import { beside, type Counted, type Mark, marksOf } from './marks.ts';
import { openAtObservations } from './opening.ts';
import { parcelNames } from './parcel-names.ts';
import { DISC, SQUARE, shapeImage } from './shapes.ts';
import { type Drawn, PICKED, type Pin, styleOf } from './style.ts';
import { forgetAhead, forgetParcels, loadTile } from './tiles.ts';
import { type Edges, LAST_TILE_ZOOM, type Opened, PIN_ZOOM, type View, WORLD } from './view.ts';

/** The clicked thing. */
export type Picked =
  | { kind: 'packets'; ids: readonly string[] }
  | { kind: 'parcel'; geoid: string; name: string | undefined; areaM2: number | undefined };

/** The events of a map. */
export interface MapListener {
  /** @param isWaiting whether it has not moved yet to where the observations are */
  moved?(view: View, edges: Edges, isWaiting: boolean): void;
  picked?(picked: Picked | undefined): void;
  /** a click while places are chosen, as the corners of a field */
  place?(lon: number, lat: number): void;
  /** whether tiles that are shown are incomplete */
  truncated?(isTruncated: boolean): void;
  failed?(error: unknown): void;
  /** whether something that it shows is not there yet */
  loading?(isLoading: boolean): void;
  /** the country in the middle; undefined at sea */
  country?(name: string | undefined): void;
}

/** A map with observations, fields and places. */
export interface ObservationMap {
  /** whether the operator has a map with more than the base map */
  readonly hasOperatorMap: boolean;
  draw(drawn: Pick<Drawn, 'colours' | 'font' | 'locale' | 'layers'>): void;
  /** Asks for the tiles of observations again. */
  refreshObservations(): void;
  /** Asks for the tiles of fields again. */
  refreshParcels(): void;
  /** Asks for everything again, after tiles have failed: those are not refreshed. */
  loadAgain(): void;
  show(view: View): void;
  /** Goes to where the observations are, as a map without a view opens. */
  showObservations(): void;
  fit(edges: readonly [west: number, south: number, east: number, north: number]): void;
  /** @param isPlacing whether clicks choose places */
  setPlacing(isPlacing: boolean): void;
  remove(): void;
}

/** Pixels around what is fitted to, and those of a map on which something floats. */
const PADDING = 60;
const FLOATING = { top: 90, right: 90, bottom: 90 };
/** Pixels below which a map has no room for its scale and its credits side by side. */
const NARROW = 480;

setWorkerUrl(workerUrl);
addProtocol('pmtiles', new Protocol().tile);
// Tiles of the services are asked for like everything else behind the login.
addProtocol('session', async ({ url }, { signal }) => ({
  data: await loadTile(url, signal),
}));

interface MapOptions {
  opened: Opened;
  /** whether it zooms out until water, a border or a name is in sight */
  needsContext?: boolean;
  /** pixels at its left on which something floats */
  covered?: () => number;
  label: string;
  listener: MapListener;
}

/** Makes a map in an element. */
export async function makeMap(container: HTMLElement, given: MapOptions): Promise<ObservationMap> {
  const { opened, label, listener } = given;
  const ofOperator = await operatorMap();
  const view = opened && 'zoom' in opened ? opened : WORLD;
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
  map.addControl(new NavigationControl({ showCompass: false }), 'bottom-right');
  map.addControl(new ScaleControl({ maxWidth: 90 }));
  if (container.clientWidth < NARROW) map.once('load', () => closeCredits(container));
  map.setMissingStyleImageResolver(id => {
    if (id === SQUARE || id === DISC) map.addImage(id, shapeImage(id), { sdf: true });
  });
  const { room, fit } = fitter(map, given.covered);
  if (opened && 'around' in opened) {
    const { west, south, east, north } = opened.around;
    fit([west, south, east, north], PIN_ZOOM);
  }
  const drawing = drawer(map, ofOperator);
  const open = () =>
    openAtObservations(map, ofOperator !== undefined, room, error => listener.failed?.(error));
  let opening = opened ? undefined : open();
  let stopZooming = given.needsContext ? zoomOutToContext(map) : undefined;
  const moved = () => tellView(map, listener, opening?.isWaiting() === true);
  map.on('moveend', moved);
  tellState(map, listener);
  const marks = followMarks(map, drawing.setMarks, drawing.pins);
  const measure = () => {
    if (!ofOperator && map.getZoom() >= GRATICULE_ZOOM)
      drawing.setGraticule(graticuleOf(edgesOf(map), degrees));
  };
  map.on('moveend', measure);
  map.on('idle', () => {
    if (!map.getSource('fields')) return;
    const parts = map.querySourceFeatures('fields', { sourceLayer: 'fields' });
    drawing.setParcelNames(parcelNames(parts, edgesOf(map)));
  });
  const picking = pickByMouse(map, listener, marks.get);
  const refresh = (source: string) => map.getSource(source) && map.refreshTiles(source);

  moved();
  measure();
  return {
    hasOperatorMap: ofOperator !== undefined,
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
      stopZooming?.();
      map.jumpTo({ center: [lon, lat], zoom });
      if (given.needsContext) stopZooming = zoomOutToContext(map);
    },
    showObservations() {
      opening?.stop();
      opening = open();
      map.jumpTo({ center: [WORLD.lon, WORLD.lat], zoom: WORLD.zoom });
    },
    fit(edges) {
      opening?.stop();
      fit(edges, 17);
    },
    setPlacing(isPlacing) {
      if (isPlacing) opening?.stop();
      picking.set(isPlacing);
    },
    remove: () => map.remove(),
  };
}

/** Fits a map to edges. @param covered pixels at its left that are not free */
function fitter(map: MapLibreMap, covered = () => 0) {
  const room = (): PaddingOptions => {
    const left = covered();
    if (left === 0) return { top: PADDING, right: PADDING, bottom: PADDING, left: PADDING };
    return { ...FLOATING, left: left + PADDING };
  };
  const fit = ([west, south, east, north]: readonly [number, number, number, number], maxZoom: number) =>
    map.fitBounds([west, south, east, north], { padding: room(), maxZoom, animate: false });
  return { room, fit };
}

const degrees = (value: number, digits: number) =>
  `${formatNumber(value, { minimumFractionDigits: digits, maximumFractionDigits: digits })}°`;

type ToDraw = Parameters<ObservationMap['draw']>[0];

/** Gives a map its style, the same one once more, and what is made while it is shown. */
function drawer(map: MapLibreMap, ofOperator: OperatorMap | undefined) {
  let last: ToDraw | undefined;
  let attempt = 0;
  const empty = (): GeoJSON.FeatureCollection => ({ type: 'FeatureCollection', features: [] });
  const made = { marks: empty(), parcelNames: empty(), graticule: empty() };
  const countryNames = new Map([...codesByName()].map(([name, code]) => [code, countryName(code, name)]));
  // MapLibre never asks again for a tile that has failed, unless its source has another address.
  const ofAttempt = (address: string) => (attempt === 0 ? address : `${address}#${attempt}`);
  const draw = (drawn: ToDraw) => {
    // A style that is still being loaded cannot be compared.
    const diff = last !== undefined && map.isStyleLoaded() === true;
    last = drawn;
    const { observations, fields } = drawn.layers;
    const layers = {
      ...drawn.layers,
      ...(observations !== undefined && { observations: ofAttempt(observations) }),
      ...(fields !== undefined && { fields: ofAttempt(fields) }),
    };
    const ground = { baseMap: ofAttempt(BASE_MAP), operatorMap: ofOperator, countryNames };
    map.setStyle(styleOf({ ...drawn, ...made, ...ground, layers }), { diff });
  };
  const setter = (name: keyof typeof made, source: string) => (data: GeoJSON.FeatureCollection) => {
    // The map is idle again when they are drawn.
    if (JSON.stringify(data) === JSON.stringify(made[name])) return;
    made[name] = data;
    map.getSource<GeoJSONSource>(source)?.setData(data);
  };
  return {
    draw,
    pins: () => last?.layers.pins ?? [],
    again() {
      attempt++;
      if (last) draw(last);
    },
    setMarks: setter('marks', 'marks'),
    setParcelNames: setter('parcelNames', 'parcel-names'),
    setGraticule: setter('graticule', 'graticule'),
  };
}

/** One observation, or a field that is too small to be drawn. */
interface Thing extends Counted {
  name?: string;
  areaM2?: number;
}

/** Makes marks from the tiles that the map has, again whenever others are there. */
function followMarks(
  map: MapLibreMap,
  set: (marks: GeoJSON.FeatureCollection) => void,
  pins: () => readonly Pin[],
) {
  let marks: Mark<Thing>[] = [];
  let isDue = false;
  const make = () => {
    isDue = false;
    const sources = ['observations', 'fields'].filter(source => map.getSource(source));
    // Tiles of the zoom before stay until those of the new one are there.
    if (!sources.every(source => map.isSourceLoaded(source))) return;
    const [observations, fields] = (['observations', 'fields'] as const).map(source =>
      sources.includes(source) ? marksOf(thingsOf(map, source), map.getZoom()) : [],
    ) as [Mark<Thing>[], Mark<Thing>[]];
    const taken = pins().map(({ lon, lat }) => ({ lon, lat, count: 1, members: [] }));
    const moved = beside(fields, [...observations, ...taken], map.getZoom());
    marks = [...observations, ...moved];
    const features = marks.map(({ lon, lat, count }, key): GeoJSON.Feature => {
      const kind = key < observations.length ? 'observation' : 'parcel';
      return {
        type: 'Feature',
        properties: { kind, count, key },
        geometry: { type: 'Point', coordinates: [lon, lat] },
      };
    });
    set({ type: 'FeatureCollection', features });
  };
  const soon = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(make);
  };
  map.on('sourcedata', ({ sourceId }) => {
    if (sourceId === 'observations' || sourceId === 'fields') soon();
  });
  map.on('moveend', soon);
  map.on('idle', soon);
  map.on('remove', () => (isDue = true));
  return { get: (key: number): Mark<Thing> | undefined => marks[key] };
}

/** The features in the tiles of a source. A point is in one tile, but a tile can be on the map several times. */
function thingsOf(map: MapLibreMap, source: 'observations' | 'fields'): Thing[] {
  const found = new Map<string, Thing>();
  for (const { geometry, properties } of map.querySourceFeatures(source, { sourceLayer: source })) {
    if (geometry.type !== 'Point') continue;
    const [lon = 0, lat = 0] = geometry.coordinates;
    const { count = 1, id, geoid, name, area_m2: areaM2 } = properties ?? {};
    const own: string | undefined = source === 'fields' ? geoid : id;
    found.set(own ?? `${lon} ${lat}`, { lon, lat, count, ...(own && { id: own }), name, areaM2 });
  }
  return [...found.values()];
}

/** Leaves the button of the credits, which MapLibre opens at first. */
function closeCredits(container: HTMLElement): void {
  const credits = container.querySelector('.maplibregl-ctrl-attrib');
  credits?.removeAttribute('open');
  credits?.classList.remove('maplibregl-compact-show');
}

/**
 * Zooms out step by step until something says where in the world the middle of the map is.
 *
 * @returns what ends it, as a movement by a person does
 */
function zoomOutToContext(map: MapLibreMap): () => void {
  const look = () => {
    const layers = CONTEXT.filter(layer => map.getLayer(layer));
    const isKnown = map.queryRenderedFeatures({ layers }).length > 0;
    if (isKnown || map.getZoom() < 4) stop();
    else map.jumpTo({ zoom: map.getZoom() - 1 });
  };
  const moved = ({ originalEvent }: { originalEvent?: unknown }) => {
    if (originalEvent) stop();
  };
  const stop = () => {
    map.off('idle', look);
    map.off('movestart', moved);
  };
  map.on('idle', look);
  map.on('movestart', moved);
  return stop;
}

/** Reports what fails, what is loading, and what is there then. */
function tellState(map: MapLibreMap, listener: MapListener): void {
  map.on('error', ({ error }) => listener.failed?.(error));
  map.on('sourcedataloading', () => listener.loading?.(true));
  // A map can have all tiles and be drawn again and again, so that it is not idle.
  map.on('sourcedata', () => map.areTilesLoaded() && listener.loading?.(false));
  map.on('idle', () => {
    listener.loading?.(false);
    forgetAhead();
    const [land] = map.queryRenderedFeatures(map.project(map.getCenter()), { layers: ['land'] });
    const { code, name } = land?.properties ?? {};
    listener.country?.(code === undefined ? name : countryName(code, name));
    const sources = ['observations', 'fields'].filter(source => map.getSource(source));
    listener.truncated?.(
      sources.some(source => map.querySourceFeatures(source, { sourceLayer: 'truncated' }).length > 0),
    );
  });
}

/** Reports what part of the world the map shows. */
function tellView(map: MapLibreMap, listener: MapListener, isWaiting: boolean): void {
  const { lng: lon, lat } = map.getCenter().wrap();
  listener.moved?.({ zoom: map.getZoom(), lat, lon }, edgesOf(map), isWaiting);
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

/** The texts of MapLibre in the language of the console. */
const wordsOf = (label: string) => ({
  'Map.Title': label,
  'NavigationControl.ZoomIn': t('products.map.in'),
  'NavigationControl.ZoomOut': t('products.map.out'),
  'AttributionControl.ToggleAttribution': t('map.sources'),
});

/** Reports what is clicked, or the places that are chosen. */
function pickByMouse(
  map: MapLibreMap,
  listener: MapListener,
  markOf: (key: number) => Mark<Thing> | undefined,
): { set(isPlacing: boolean): void } {
  let isPlacing = false;
  map.on('click', ({ point, lngLat }) => {
    if (isPlacing) {
      listener.place?.(lngLat.lng, lngLat.lat);
      return;
    }
    const near: [[number, number], [number, number]] = [
      [point.x - 4, point.y - 4],
      [point.x + 4, point.y + 4],
    ];
    const layers = PICKED.filter(layer => map.getLayer(layer));
    const [found] = map.queryRenderedFeatures(near, { layers });
    const mark = found?.source === 'marks' ? markOf(found.properties.key) : undefined;
    const picked = mark ? pickedOf(mark, found?.properties.kind) : found && parcelOf(found.properties);
    if (mark && !picked) map.easeTo({ center: [mark.lon, mark.lat], zoom: map.getZoom() + 2 });
    else listener.picked?.(picked);
  });
  map.on('mousemove', ({ point }) => {
    const layers = PICKED.filter(layer => map.getLayer(layer));
    const isOver = layers.length > 0 && map.queryRenderedFeatures(point, { layers }).length > 0;
    map.getCanvas().style.cursor = isPlacing ? 'crosshair' : isOver ? 'pointer' : '';
  });
  return {
    set(placing) {
      isPlacing = placing;
      // Two places that are close together are no double click.
      map.doubleClickZoom[placing ? 'disable' : 'enable']();
      map.getCanvas().style.cursor = placing ? 'crosshair' : '';
    },
  };
}

/** Degrees within which things stay one mark at the last zoom of tiles. */
const AT_ONE_PLACE = (360 / 512 / 2 ** LAST_TILE_ZOOM) * 16;

/** A single field, or all observations at a place; undefined for what a nearer map shows apart. */
function pickedOf({ members }: Mark<Thing>, kind: string): Picked | undefined {
  const ids = members.flatMap(({ id }) => id ?? []);
  const [first] = members as readonly [Thing];
  const isOnePlace = members.every(
    ({ lon, lat }) => Math.abs(lon - first.lon) < AT_ONE_PLACE && Math.abs(lat - first.lat) < AT_ONE_PLACE,
  );
  if (ids.length < members.length || !isOnePlace) return undefined;
  if (kind === 'observation') return { kind: 'packets', ids };
  const { id, name, areaM2 } = first;
  return ids.length > 1 || id === undefined ? undefined : { kind: 'parcel', geoid: id, name, areaM2 };
}

function parcelOf({ geoid, name, area_m2: areaM2 }: MapGeoJSONFeature['properties']): Picked | undefined {
  return geoid === undefined ? undefined : { kind: 'parcel', geoid, name, areaM2 };
}
