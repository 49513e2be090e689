import type {
  ExpressionSpecification,
  LayerSpecification,
  LineLayerSpecification,
  SourceSpecification,
  SymbolLayerSpecification,
} from 'maplibre-gl';
import { BASE_MAP_ZOOM, PLACES_ZOOM } from './base-map.ts';
import type { Look } from './map-colours.ts';
import type { Edges } from './view.ts';

/** A map of the operator, which is drawn above the base map. */
export interface OperatorMap {
  /** of MapLibre's source */
  url: string;
  isRaster: boolean;
  /** layers of its tiles, where they are vectors */
  layers: string[];
  attribution: string | undefined;
  edges: Edges;
}

/** The sources of the ground of a map. */
export interface Ground extends Look {
  /** of MapLibre's source */
  baseMap: string;
  operatorMap: OperatorMap | undefined;
  /** names of countries in the language of the reader, by their codes */
  countryNames: ReadonlyMap<string, string>;
  graticule: GeoJSON.FeatureCollection;
}

/** From which on lines of latitude and longitude are drawn: little else may be in sight. */
export const GRATICULE_ZOOM = 10;
/** From which on most countries are larger than the map: the line below it says which one it shows. */
const NEAR_ZOOM = 8;

/** Layers that say where a place is. */
export const CONTEXT = ['lakes', 'rivers', 'borders', 'coast', 'places', 'all-places', 'country-names'];

const CREDITS = 'Natural Earth, © GeoNames (CC BY 4.0)';

export function groundSources({
  baseMap,
  operatorMap,
  graticule,
}: Ground): Record<string, SourceSpecification> {
  return {
    land: { type: 'vector', url: baseMap, maxzoom: BASE_MAP_ZOOM, attribution: CREDITS },
    places: { type: 'vector', url: baseMap, minzoom: PLACES_ZOOM, maxzoom: PLACES_ZOOM },
    graticule: { type: 'geojson', data: graticule },
    ...(operatorMap && { operator: operatorSource(operatorMap) }),
  };
}

function operatorSource({ url, isRaster, attribution }: OperatorMap): SourceSpecification {
  const more = attribution === undefined ? {} : { attribution };
  return isRaster ? { type: 'raster', url, tileSize: 256, ...more } : { type: 'vector', url, ...more };
}

/** Fonts of the browser: without an address of glyphs, MapLibre draws letters with them. The first one only has a weight. */
export const fontOf = ({ font }: Look, weight: 'regular' | 'semibold' | 'italic' = 'regular') => [
  weight,
  ...font,
];

export function groundLayers(ground: Ground): LayerSpecification[] {
  const { colours, operatorMap } = ground;
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': colours.water } },
    ...landLayers(ground),
    ...(operatorMap ? operatorLayers(operatorMap, ground) : graticuleLayers(ground)),
    bordersOf(ground),
    ...nameLayers(ground),
  ];
}

const byZoom = (...stops: number[]): ExpressionSpecification => [
  'interpolate',
  ['linear'],
  ['zoom'],
  ...stops,
];

function landLayers({ colours, operatorMap }: Ground): LayerSpecification[] {
  const outline = (id: string, color: string, width: ExpressionSpecification): LineLayerSpecification => ({
    id,
    type: 'line',
    source: 'land',
    'source-layer': 'countries',
    layout: { 'line-join': 'round' },
    paint: { 'line-color': color, 'line-width': width },
  });
  const lakes = { source: 'land', 'source-layer': 'lakes' } as const;
  return [
    // The half of each line that is on land is covered by it.
    outline('shallow', colours.shallow, byZoom(1, 2, 4, 6, 8, 14)),
    outline('coast', colours.shore, byZoom(1, 0.8, 6, 2)),
    {
      id: 'land',
      type: 'fill',
      source: 'land',
      'source-layer': 'countries',
      paint: { 'fill-color': colours.land },
    },
    {
      id: 'rivers',
      type: 'line',
      source: 'land',
      'source-layer': 'rivers',
      minzoom: 2,
      ...withinNothing(operatorMap),
      layout: { 'line-join': 'round', 'line-cap': 'round' },
      paint: { 'line-color': colours.river, 'line-width': byZoom(2, 0.4, 5, 1, 9, 2, 14, 3) },
    },
    { id: 'lakes', type: 'fill', ...lakes, paint: { 'fill-color': colours.water } },
    {
      id: 'lake-rims',
      type: 'line',
      ...lakes,
      minzoom: 5,
      layout: { 'line-join': 'round' },
      paint: {
        'line-color': colours.shallow,
        'line-width': byZoom(5, 1, 8, 5),
        'line-offset': byZoom(5, 0.5, 8, 2.5),
      },
    },
    {
      id: 'lake-shores',
      type: 'line',
      ...lakes,
      layout: { 'line-join': 'round' },
      paint: { 'line-color': colours.shore, 'line-width': byZoom(2, 0.3, 6, 1) },
    },
  ];
}

/** Not where the operator has a better map of its own. */
function withinNothing(operatorMap: OperatorMap | undefined): { filter?: ExpressionSpecification } {
  if (!operatorMap || operatorMap.isRaster) return {};
  return { filter: outside(operatorMap) };
}

function outside({ edges: { west, south, east, north } }: OperatorMap): ExpressionSpecification {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return ['!', ['within', { type: 'Polygon', coordinates: [ring] }]];
}

function bordersOf({ colours }: Ground): LayerSpecification {
  return {
    id: 'borders',
    type: 'line',
    source: 'land',
    'source-layer': 'borders',
    layout: { 'line-join': 'round' },
    paint: {
      'line-color': colours.border,
      'line-width': byZoom(1, 0.5, 4, 0.9, 8, 1.4),
      'line-dasharray': [4, 2],
    },
  };
}

function nameLayers(ground: Ground): LayerSpecification[] {
  const { colours, operatorMap } = ground;
  // A raster map has its own names everywhere.
  if (operatorMap?.isRaster) return [];
  const halo = { 'text-halo-color': colours.halo, 'text-halo-width': 1.4 };
  const isShown: ExpressionSpecification = ['<=', ['get', 'from'], ['zoom']];
  const placed: ExpressionSpecification = operatorMap ? ['all', isShown, outside(operatorMap)] : isShown;
  const names: Pick<SymbolLayerSpecification, 'type' | 'layout' | 'paint'> = {
    type: 'symbol',
    layout: {
      'text-field': ['get', 'name'],
      'text-font': [
        'case',
        ['has', 'capital'],
        ['literal', fontOf(ground, 'semibold')],
        ['literal', fontOf(ground)],
      ],
      'text-size': [
        ...['interpolate', ['linear'], ['zoom']],
        ...[4, ['step', ['get', 'from'], 12, 4, 11]],
        ...[10, ['step', ['get', 'from'], 16, 4, 15, 6, 13.5, 8, 12.5, 9, 11.5]],
      ] as unknown as ExpressionSpecification,
      'text-max-width': 8,
      'text-padding': 4,
      // Beside a mark, if there is one at the place.
      'text-variable-anchor': ['center', 'top', 'bottom', 'left', 'right'],
      'text-radial-offset': 1,
      'symbol-sort-key': ['get', 'from'],
    },
    paint: {
      'text-color': ['step', ['get', 'from'], colours.text, 9, colours.soft],
      ...halo,
    },
  };
  return [
    {
      id: 'all-places',
      source: 'places',
      'source-layer': 'places',
      minzoom: PLACES_ZOOM,
      filter: placed,
      ...names,
    },
    {
      id: 'places',
      source: 'land',
      'source-layer': 'places',
      maxzoom: PLACES_ZOOM,
      filter: placed,
      ...names,
    },
    {
      id: 'lake-names',
      type: 'symbol',
      source: 'land',
      'source-layer': 'lake-names',
      filter: placed,
      layout: {
        'text-field': ['get', 'name'],
        'text-font': fontOf(ground, 'italic'),
        'text-size': byZoom(3, 11, 9, 15),
        'text-letter-spacing': 0.12,
        'text-max-width': 8,
      },
      paint: { 'text-color': colours['water-text'], 'text-halo-color': colours.water, 'text-halo-width': 1 },
    },
    countryNamesOf(ground),
  ];
}

function countryNamesOf({ countryNames, ...look }: Ground): LayerSpecification {
  const codes = [...countryNames].flat();
  const name = (
    codes.length === 0 ? ['get', 'name'] : ['match', ['get', 'code'], ...codes, ['get', 'name']]
  ) as ExpressionSpecification;
  return {
    id: 'country-names',
    type: 'symbol',
    source: 'land',
    'source-layer': 'country-names',
    minzoom: 1,
    maxzoom: NEAR_ZOOM,
    filter: ['<=', ['get', 'from'], ['zoom']],
    // Where two names would overlap, the larger country has its name.
    layout: {
      'text-field': name,
      'text-font': fontOf(look, 'semibold'),
      'text-size': byZoom(1, 11, 5, 14),
      'text-letter-spacing': 0.04,
      'text-max-width': 7,
      'text-padding': 6,
      'symbol-sort-key': ['-', 0, ['get', 'area']],
    },
    paint: {
      'text-color': look.colours.soft,
      'text-halo-color': look.colours.halo,
      'text-halo-width': 1.4,
    },
  };
}

function graticuleLayers(ground: Ground): LayerSpecification[] {
  const { colours } = ground;
  const from = { source: 'graticule', minzoom: GRATICULE_ZOOM } as const;
  return [
    {
      id: 'graticule',
      type: 'line',
      ...from,
      filter: ['==', ['geometry-type'], 'LineString'],
      paint: { 'line-color': colours.grid, 'line-width': 1 },
    },
    {
      id: 'graticule-degrees',
      type: 'symbol',
      ...from,
      filter: ['==', ['geometry-type'], 'Point'],
      layout: {
        'text-field': ['get', 'text'],
        'text-font': fontOf(ground),
        'text-size': 11,
        'text-anchor': ['match', ['get', 'kind'], 'meridian', 'top', 'left'],
        'text-offset': ['match', ['get', 'kind'], 'meridian', ['literal', [0, 0.4]], ['literal', [0.4, 0]]],
      },
      paint: { 'text-color': colours.soft, 'text-halo-color': colours.halo, 'text-halo-width': 1.4 },
    },
  ];
}

/** Kinds of layers by their names, which differ between makers of tiles. The first that fits counts. */
const KINDS = [
  ['water', /water|ocean|sea|lake|river/],
  ['road', /road|transport|highway|street|rail/],
  ['border', /bound|admin|border/],
  ['built', /build|built|urban/],
  ['green', /land|park|forest|wood|green|nature|vegetation/],
] as const;

function operatorLayers(map: OperatorMap, ground: Ground): LayerSpecification[] {
  if (map.isRaster) return [{ id: 'operator', type: 'raster', source: 'operator' }];
  const kindOf = (layer: string) => KINDS.find(([, name]) => name.test(layer))?.[0];
  // What covers others is drawn first.
  const order = ['green', 'built', undefined, 'water', 'road', 'border'];
  const sorted = map.layers.toSorted((a, b) => order.indexOf(kindOf(a)) - order.indexOf(kindOf(b)));
  const shapes = sorted.flatMap(layer => shapesOf(layer, kindOf(layer), ground));
  return [...shapes, ...sorted.map(layer => operatorNames(layer, ground))];
}

function shapesOf(
  layer: string,
  kind: (typeof KINDS)[number][0] | undefined,
  { colours }: Ground,
): LayerSpecification[] {
  const from = { source: 'operator', 'source-layer': layer } as const;
  const area = kind === 'water' ? colours.water : kind === 'built' ? colours.built : colours.green;
  const line = kind === 'water' ? colours.river : kind === 'road' ? colours.road : colours.border;
  const lines = {
    type: 'line',
    ...from,
    filter: ['==', ['geometry-type'], 'LineString'],
    layout: { 'line-join': 'round', 'line-cap': 'round' },
  } satisfies Partial<LineLayerSpecification>;
  return [
    {
      id: `operator-areas-${layer}`,
      type: 'fill',
      ...from,
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': area, 'fill-opacity': kind === 'water' ? 1 : 0.6 },
    },
    ...(kind === 'road'
      ? [
          {
            id: `operator-edges-${layer}`,
            ...lines,
            paint: { 'line-color': colours['road-edge'], 'line-width': byZoom(8, 1.2, 14, 5, 18, 12) },
          },
        ]
      : []),
    {
      id: `operator-lines-${layer}`,
      ...lines,
      paint: {
        'line-color': line,
        'line-width': kind === 'road' ? byZoom(8, 0.6, 14, 3.2, 18, 9) : 1,
        ...(kind === 'border' && { 'line-dasharray': [4, 2] }),
      },
    },
  ];
}

function operatorNames(layer: string, ground: Ground): SymbolLayerSpecification {
  const { colours } = ground;
  return {
    id: `operator-names-${layer}`,
    type: 'symbol',
    source: 'operator',
    'source-layer': layer,
    filter: ['all', ['==', ['geometry-type'], 'Point'], ['has', 'name']],
    layout: { 'text-field': ['get', 'name'], 'text-font': fontOf(ground), 'text-size': 12 },
    paint: { 'text-color': colours.text, 'text-halo-color': colours.halo, 'text-halo-width': 1.4 },
  };
}
