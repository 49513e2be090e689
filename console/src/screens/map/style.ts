import type {
  ExpressionSpecification,
  LayerSpecification,
  SourceSpecification,
  StyleSpecification,
  SymbolLayerSpecification,
} from 'maplibre-gl';

import type { Draft } from './draft.ts';
import type { ParcelNames } from './parcel-names.ts';
import { HALF_SIDE, SQUARE } from './square.ts';
import { LAST_TILE_ZOOM } from './view.ts';

/** The custom properties of the colours. */
export const COLOUR_NAMES = ['land', 'sea', 'border', 'raised', 'ink', 'soft', 'accent', 'wash'] as const;

/** Colours of the map, as CSS colours without variables. */
export type Colours = Record<(typeof COLOUR_NAMES)[number], string>;

/** What the map is drawn from. */
export interface Drawn {
  colours: Colours;
  /** locales of numbers */
  locale: string;
  countries: GeoJSON.FeatureCollection;
  /** points of the names of countries */
  names: GeoJSON.FeatureCollection;
  base: BaseMap | undefined;
  /** points of the names of fields */
  parcelNames: ParcelNames;
  /** addresses of tiles */
  observations: string;
  fields: string;
  /** the field that is being drawn */
  draft: Draft;
}

/** A base map of the operator. */
export interface BaseMap {
  /** of MapLibre's source */
  url: string;
  isRaster: boolean;
  /** layers of its tiles, where they are vectors */
  layers: string[];
  attribution: string | undefined;
}

/** Fonts of the browser: without an address of glyphs, MapLibre draws letters with them. */
const FONT = ['sans-serif'];

/** From which on most countries are larger than the map: the line below it says which one it shows. */
const NEAR_ZOOM = 8;
/** Zoom up to which only large countries have names, and their minimum size in square degrees. */
const FAR_ZOOM = 2;
const LARGE_COUNTRY = 80;

/** Layers in which a click finds something. */
export const PICKED = ['observation-points', 'parcel-points', 'parcel-areas'];

const isOne: ExpressionSpecification = ['==', ['get', 'count'], 1];
const isPoint: ExpressionSpecification = ['==', ['geometry-type'], 'Point'];
const isArea: ExpressionSpecification = ['==', ['geometry-type'], 'Polygon'];

/** The style of the map. */
export function styleOf(drawn: Drawn): StyleSpecification {
  const { countries, names, parcelNames, base, observations, fields, draft } = drawn;
  const tiles = (address: string): SourceSpecification => ({
    type: 'vector',
    tiles: [address],
    maxzoom: LAST_TILE_ZOOM,
  });
  return {
    version: 8,
    sources: {
      countries: { type: 'geojson', data: countries, attribution: 'Natural Earth' },
      names: { type: 'geojson', data: names },
      ...(base && { base: baseSource(base) }),
      // MapLibre requests tiles in this order.
      observations: tiles(observations),
      fields: tiles(fields),
      'parcel-names': { type: 'geojson', data: parcelNames },
      draft: { type: 'geojson', data: draft },
    },
    layers: [
      { id: 'sea', type: 'background', paint: { 'background-color': drawn.colours.sea } },
      ...ground(drawn),
      ...parcelLayers(drawn),
      ...observationLayers(drawn),
      ...draftLayers(drawn),
    ],
  };
}

function baseSource({ url, isRaster, attribution }: BaseMap): SourceSpecification {
  const more = attribution === undefined ? {} : { attribution };
  return isRaster ? { type: 'raster', url, tileSize: 256, ...more } : { type: 'vector', url, ...more };
}

function ground({ colours, base }: Drawn): LayerSpecification[] {
  const countries: LayerSpecification[] = [
    { id: 'land', type: 'fill', source: 'countries', paint: { 'fill-color': colours.land } },
    {
      id: 'borders',
      type: 'line',
      source: 'countries',
      paint: { 'line-color': colours.border, 'line-width': 1 },
    },
  ];
  const named = { type: 'symbol', source: 'names' } as const;
  const look: Pick<SymbolLayerSpecification, 'layout' | 'paint'> = {
    // Where two names would overlap, the larger country has its name.
    layout: {
      'text-field': ['get', 'name'],
      'text-font': FONT,
      'text-size': 13,
      'text-max-width': 7,
      'symbol-sort-key': ['-', 0, ['get', 'area']],
    },
    paint: { 'text-color': colours.ink, 'text-halo-color': colours.land, 'text-halo-width': 1.2 },
  };
  const isLarge: ExpressionSpecification = ['>=', ['get', 'area'], LARGE_COUNTRY];
  const names: LayerSpecification[] = [
    { id: 'large-country-names', ...named, minzoom: 1, maxzoom: FAR_ZOOM, filter: isLarge, ...look },
    { id: 'country-names', ...named, minzoom: FAR_ZOOM, maxzoom: NEAR_ZOOM, ...look },
  ];
  if (!base) return [...countries, ...names];
  if (base.isRaster) return [...countries, { id: 'base', type: 'raster', source: 'base' }];
  return [...countries, ...base.layers.flatMap(layer => baseLayers(layer, colours)), ...names];
}

/** Layers of any vector tiles: water as the sea, other areas faintly, lines, and the names of places. */
function baseLayers(layer: string, colours: Colours): LayerSpecification[] {
  const from = { source: 'base', 'source-layer': layer } as const;
  const isWater = /water|ocean|sea|lake/.test(layer);
  return [
    {
      id: `base-areas-${layer}`,
      type: 'fill',
      ...from,
      filter: isArea,
      paint: { 'fill-color': isWater ? colours.sea : colours.wash, 'fill-opacity': isWater ? 1 : 0.35 },
    },
    {
      id: `base-lines-${layer}`,
      type: 'line',
      ...from,
      filter: ['==', ['geometry-type'], 'LineString'],
      paint: { 'line-color': isWater ? colours.sea : colours.border, 'line-width': 1 },
    },
    {
      id: `base-names-${layer}`,
      type: 'symbol',
      ...from,
      filter: ['all', isPoint, ['has', 'name']],
      layout: { 'text-field': ['get', 'name'], 'text-font': FONT, 'text-size': 11 },
      paint: { 'text-color': colours.soft, 'text-halo-color': colours.land, 'text-halo-width': 1 },
    },
  ];
}

/** Grows with the size of the count of a cluster: half of its width in pixels, divided by `unit`. */
const bySize = (unit = 1): ExpressionSpecification => [
  'interpolate',
  ['linear'],
  ['log10', ['max', 1, ['get', 'count']]],
  0,
  6 / unit,
  1,
  11 / unit,
  3,
  16 / unit,
  6,
  24 / unit,
];

/** How letters look on whatever is below them. */
const lettersOf = ({ ink, land }: Colours) => ({
  'text-color': ink,
  'text-halo-color': land,
  'text-halo-width': 1.5,
});

/** The count of a cluster; nothing for a single one. */
const countText = (locale: string): SymbolLayerSpecification['layout'] => ({
  'text-field': [
    'case',
    isOne,
    '',
    ['number-format', ['get', 'count'], { locale, 'max-fraction-digits': 0 }],
  ],
  'text-font': FONT,
  'text-size': 11,
  'text-allow-overlap': true,
});

function parcelLayers({ colours, locale }: Drawn): LayerSpecification[] {
  const from = { source: 'fields', 'source-layer': 'fields' } as const;
  return [
    {
      id: 'parcel-areas',
      type: 'fill',
      ...from,
      filter: isArea,
      paint: { 'fill-color': colours.accent, 'fill-opacity': 0.15 },
    },
    {
      id: 'parcel-edges',
      type: 'line',
      ...from,
      filter: isArea,
      paint: { 'line-color': colours.accent, 'line-width': 2 },
    },
    {
      id: 'parcel-names',
      type: 'symbol',
      source: 'parcel-names',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': FONT,
        'text-size': 12,
        'text-max-width': 8,
        'text-padding': 24,
      },
      paint: lettersOf(colours),
    },
    {
      // Squares, as observations are circles: colours alone would not tell one from the other.
      id: 'parcel-points',
      type: 'symbol',
      ...from,
      filter: isPoint,
      layout: {
        'icon-image': SQUARE,
        'icon-size': bySize(HALF_SIDE),
        'icon-allow-overlap': true,
        'icon-ignore-placement': true,
        ...countText(locale),
      },
      paint: {
        'icon-color': colours.wash,
        'icon-halo-color': colours.accent,
        'icon-halo-width': 2,
        ...lettersOf(colours),
      },
    },
  ];
}

function observationLayers({ colours, locale }: Drawn): LayerSpecification[] {
  const from = { source: 'observations', 'source-layer': 'observations' } as const;
  return [
    {
      id: 'observation-points',
      type: 'circle',
      ...from,
      paint: {
        'circle-radius': bySize(),
        'circle-color': colours.accent,
        'circle-opacity': ['case', isOne, 0.9, 0.45],
        // A cluster is pale, so that its count can be read: its edge sets it off from the land.
        'circle-stroke-color': ['case', isOne, colours.land, colours.accent],
        'circle-stroke-width': ['case', isOne, 1, 2],
      },
    },
    {
      id: 'observation-counts',
      type: 'symbol',
      ...from,
      layout: countText(locale),
      paint: lettersOf(colours),
    },
  ];
}

function draftLayers({ colours }: Drawn): LayerSpecification[] {
  return [
    {
      id: 'draft-area',
      type: 'fill',
      source: 'draft',
      filter: isArea,
      paint: { 'fill-color': colours.ink, 'fill-opacity': 0.12 },
    },
    {
      id: 'draft-edge',
      type: 'line',
      source: 'draft',
      paint: { 'line-color': colours.ink, 'line-width': 2, 'line-dasharray': [2, 1] },
    },
    {
      id: 'draft-corners',
      type: 'circle',
      source: 'draft',
      filter: isPoint,
      paint: {
        'circle-radius': 5,
        'circle-color': colours.raised,
        'circle-stroke-color': colours.ink,
        'circle-stroke-width': 2,
      },
    },
  ];
}
