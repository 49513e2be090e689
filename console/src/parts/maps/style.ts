import type {
  ExpressionSpecification,
  LayerSpecification,
  SourceSpecification,
  StyleSpecification,
  SymbolLayerSpecification,
} from 'maplibre-gl';
import { fontOf, type Ground, groundLayers, groundSources } from './ground.ts';
import { RADII } from './marks.ts';
import { DISC, HALF_SIDE, SQUARE } from './shapes.ts';
import { LAST_TILE_ZOOM } from './view.ts';

/** The layers above the ground of a map. */
export interface Layers {
  /** address of tiles; none are asked for without it */
  observations?: string;
  fields?: string;
  /** parts of the ground that are not drawn */
  hidden?: readonly GroundPart[];
  /** a field that is being drawn */
  draft?: GeoJSON.FeatureCollection;
  /** places with a name; one of them can be chosen */
  pins?: readonly Pin[];
  /** whether a line leads from each pin to the next */
  isPath?: boolean;
}

export interface Pin {
  lon: number;
  lat: number;
  name?: string;
  isChosen?: boolean;
}

/** Parts of the ground that people can switch off. */
export type GroundPart = 'names' | 'borders';

/** The sources of a map. */
export interface Drawn extends Ground {
  /** locales of numbers */
  locale: string;
  layers: Layers;
  /** what is made from tiles that are there: marks of observations and fields, and points for the names of fields */
  marks: GeoJSON.FeatureCollection;
  parcelNames: GeoJSON.FeatureCollection;
}

/** Layers in which a click finds something. */
export const PICKED = ['observation-marks', 'parcel-marks', 'parcel-areas'];

const NOTHING: GeoJSON.FeatureCollection = { type: 'FeatureCollection', features: [] };

const isOne: ExpressionSpecification = ['==', ['get', 'count'], 1];
const isArea: ExpressionSpecification = ['==', ['geometry-type'], 'Polygon'];

/** The style of a map. */
export function styleOf(drawn: Drawn): StyleSpecification {
  const { observations, fields, draft = NOTHING } = drawn.layers;
  const tiles = (address: string): SourceSpecification => ({
    type: 'vector',
    tiles: [address],
    maxzoom: LAST_TILE_ZOOM,
  });
  return {
    version: 8,
    sources: {
      // Tiles are asked for in this order.
      ...(observations !== undefined && { observations: tiles(observations) }),
      ...groundSources(drawn),
      ...(fields !== undefined && { fields: tiles(fields) }),
      marks: { type: 'geojson', data: drawn.marks },
      'parcel-names': { type: 'geojson', data: drawn.parcelNames },
      draft: { type: 'geojson', data: draft },
      pins: { type: 'geojson', data: pinsOf(drawn.layers) },
    },
    // What is above is placed first: names make room for marks.
    layers: [
      ...groundLayers(drawn).filter(layer => !(drawn.layers.hidden ?? []).some(part => isPart(part, layer))),
      ...(fields === undefined ? [] : parcelLayers(drawn)),
      ...(observations === undefined ? [] : [observationTiles]),
      ...markLayers(drawn),
      ...draftLayers(drawn),
      ...pinLayers(drawn),
    ],
  };
}

/** Whether a layer is of a part of the ground. */
function isPart(part: GroundPart, { id, type }: LayerSpecification): boolean {
  return part === 'borders' ? id === 'borders' : type === 'symbol' && id !== 'graticule-degrees';
}

/** Draws nothing: tiles are loaded where a layer uses them, and marks are made from them. */
const observationTiles: LayerSpecification = {
  id: 'observation-tiles',
  type: 'circle',
  source: 'observations',
  'source-layer': 'observations',
  paint: { 'circle-radius': 0, 'circle-opacity': 0 },
};

function parcelLayers(drawn: Drawn): LayerSpecification[] {
  const { colours } = drawn;
  const from = { source: 'fields', 'source-layer': 'fields', filter: isArea } as const;
  return [
    {
      id: 'parcel-areas',
      type: 'fill',
      ...from,
      paint: { 'fill-color': colours.mark, 'fill-opacity': 0.22 },
    },
    {
      id: 'parcel-edges',
      type: 'line',
      ...from,
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colours.mark, 'line-width': 1.6 },
    },
    {
      id: 'parcel-names',
      type: 'symbol',
      source: 'parcel-names',
      layout: {
        'text-field': ['get', 'name'],
        'text-font': fontOf(drawn, 'semibold'),
        'text-size': 12,
        'text-max-width': 8,
        'text-padding': 3,
      },
      paint: { 'text-color': colours.text, 'text-halo-color': colours.halo, 'text-halo-width': 1.6 },
    },
  ];
}

/** Grows with the count: how much larger than its image a mark is. */
const bySize: ExpressionSpecification = [
  'interpolate',
  ['linear'],
  ['log10', ['max', 1, ['get', 'count']]],
  ...RADII.flatMap(([power, radius]) => [power, radius / HALF_SIDE]),
];

function markLayers(drawn: Drawn): LayerSpecification[] {
  const { colours, locale } = drawn;
  const layout = (image: string): SymbolLayerSpecification['layout'] => ({
    'icon-image': image,
    'icon-size': bySize,
    'icon-allow-overlap': true,
    'text-field': [
      'case',
      isOne,
      '',
      ['number-format', ['get', 'count'], { locale, 'max-fraction-digits': 0 }],
    ],
    'text-font': fontOf(drawn, 'semibold'),
    'text-size': 12,
    'text-allow-overlap': true,
  });
  return [
    {
      // Squares, as observations are circles: colours alone would not tell one from the other.
      id: 'parcel-marks',
      type: 'symbol',
      source: 'marks',
      filter: ['==', ['get', 'kind'], 'parcel'],
      layout: layout(SQUARE),
      paint: {
        'icon-color': colours.field,
        'icon-halo-color': colours.mark,
        'icon-halo-width': 2,
        'text-color': colours.ink,
      },
    },
    {
      id: 'observation-marks',
      type: 'symbol',
      source: 'marks',
      filter: ['==', ['get', 'kind'], 'observation'],
      layout: layout(DISC),
      paint: {
        'icon-color': ['case', isOne, colours.point, colours.mark],
        'icon-halo-color': colours.edge,
        'icon-halo-width': 2,
        'text-color': colours['on-mark'],
      },
    },
  ];
}

function pinsOf({ pins = [], isPath = false }: Layers): GeoJSON.FeatureCollection {
  const points = pins.map(
    ({ lon, lat, name = '', isChosen = false }): GeoJSON.Feature => ({
      type: 'Feature',
      properties: { name, isChosen },
      geometry: { type: 'Point', coordinates: [lon, lat] },
    }),
  );
  const path: GeoJSON.Feature = {
    type: 'Feature',
    properties: {},
    geometry: { type: 'LineString', coordinates: pins.map(({ lon, lat }) => [lon, lat]) },
  };
  return { type: 'FeatureCollection', features: isPath && pins.length > 1 ? [path, ...points] : points };
}

function pinLayers(drawn: Drawn): LayerSpecification[] {
  const { colours } = drawn;
  const isPoint: ExpressionSpecification = ['==', ['geometry-type'], 'Point'];
  return [
    {
      id: 'pin-path',
      type: 'line',
      source: 'pins',
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colours.mark, 'line-width': 2, 'line-dasharray': [2, 1] },
    },
    {
      id: 'pins',
      type: 'symbol',
      source: 'pins',
      filter: isPoint,
      layout: {
        'icon-image': DISC,
        'icon-size': ['case', ['get', 'isChosen'], 0.8, 0.65],
        'icon-allow-overlap': true,
        'text-field': ['get', 'name'],
        'text-font': fontOf(drawn, 'semibold'),
        'text-size': 12,
        'text-max-width': 10,
        'text-optional': true,
        'text-variable-anchor': ['top', 'bottom', 'left', 'right'],
        'text-radial-offset': 0.9,
      },
      paint: {
        'icon-color': ['case', ['get', 'isChosen'], colours.chosen, colours.mark],
        'icon-halo-color': colours.edge,
        'icon-halo-width': 2,
        'text-color': colours.ink,
        'text-halo-color': colours.halo,
        'text-halo-width': 1.6,
      },
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
      filter: ['==', ['geometry-type'], 'Point'],
      paint: {
        'circle-radius': 5,
        'circle-color': colours.edge,
        'circle-stroke-color': colours.ink,
        'circle-stroke-width': 2,
      },
    },
  ];
}
