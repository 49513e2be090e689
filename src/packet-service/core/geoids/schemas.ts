import { Type } from '../../../platform/type.ts';
import { ErrorBody, errorAnswers } from '../contract/schemas.ts';
import { PositionHeaders } from '../replicas/schemas.ts';
import { MAX_FEATURES, MAX_NAME } from './features.ts';
import { GEOID_PATTERN } from './geoid.ts';

/** Maximum GeoIDs per request for names. */
export const MAX_NAMED = 100;
/** Maximum fields with a name. */
export const MAX_FOUND = 20;

export const FieldGeoid = Type.String({
  pattern: GEOID_PATTERN,
  description: 'GeoID of a field: 64 lowercase hexadecimal digits',
  examples: ['0d8b4afb3b3332f75cf5b1889b0564a9e7a80f4bad239a9a593e1665210c3079'],
});

const Position = Type.Array(Type.Number(), {
  minItems: 2,
  maxItems: 4,
  description: 'longitude, latitude in degrees (WGS 84); altitude is ignored',
});
const Ring = Type.Array(Position, {
  minItems: 4,
  description: 'closed: the last position equals the first',
});
const Rings = Type.Array(Ring, {
  minItems: 1,
  description: 'the outer ring, then the holes; at most 256 rings and 5,000 positions in total',
});

export const Boundary = Type.Union([
  Type.Object({ type: Type.Literal('Polygon'), coordinates: Rings }, { title: 'a Polygon' }),
  Type.Object(
    {
      type: Type.Literal('MultiPolygon'),
      coordinates: Type.Array(Rings, {
        minItems: 1,
        description: 'at most 256 rings and 5,000 positions in total',
      }),
    },
    { title: 'a MultiPolygon' },
  ),
]);

const Feature = Type.Object(
  {
    type: Type.Literal('Feature'),
    geometry: Boundary,
    properties: Type.Optional(
      Type.Union([
        Type.Object(
          { name: Type.Optional(Type.String({ maxLength: MAX_NAME })) },
          { additionalProperties: true },
        ),
        Type.Null(),
      ]),
    ),
  },
  { title: 'a Feature' },
);

const FeatureCollection = Type.Object(
  {
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(Feature, { minItems: 1, maxItems: MAX_FEATURES }),
  },
  { title: 'a FeatureCollection' },
);

const StoredFeature = Type.Object(
  {
    type: Type.Literal('Feature'),
    id: FieldGeoid,
    properties: Type.Object({
      geoid: FieldGeoid,
      name: Type.Union([Type.String(), Type.Null()]),
      area_m2: Type.Number(),
      created_at: Type.String({ description: 'ISO 8601, UTC' }),
    }),
    geometry: Boundary,
  },
  { description: 'a registered field with its boundary as sent' },
);

/** The answer of what the built-in registry has, if there is another. */
export const refusedWithAssetRegistry = {
  501: { ...ErrorBody, description: 'fields are registered in the asset registry at ASSET_REGISTRY_URL' },
};

export const putFieldsSchema = {
  operationId: 'registerFields',
  tags: ['GeoIDs'],
  summary: 'Register fields',
  description:
    'Assigns a GeoID to each boundary. If one boundary is invalid, none is registered. An area that is already ' +
    'registered (more than 95 % of its level-20 S2 cells match) keeps its GeoID. Once answered, points inside a ' +
    'field resolve to its GeoID; a field never changes. Administrators can register any field. For others, a ' +
    'field returns 403, and 401 without a token, if it lies inside a field of at least its size that another ' +
    'user registered with a token, or would leave that user less than half of it. So does a field that overlaps ' +
    'such a field if that one has more than 2,000 smaller fields, or 16 MiB of their boundaries, around it. A ' +
    'boundary has at most 5,000 positions, 256 rings, 1,000 acres, 20 km from side to side, a bounding box of 20 ' +
    'km², and 100 km of edges, between 89° south and 89° north.',
  body: Type.Union([Feature, FeatureCollection], {
    examples: [
      {
        type: 'Feature',
        properties: { name: 'Lower meadow' },
        geometry: {
          type: 'Polygon',
          coordinates: [
            [
              [76.8886, 30.3114],
              [76.8884, 30.3107],
              [76.8895, 30.3107],
              [76.8895, 30.3114],
              [76.8886, 30.3114],
            ],
          ],
        },
      },
    ],
  }),
  response: {
    200: Type.Object(
      {
        fields: Type.Array(
          Type.Object({
            geoid: FieldGeoid,
            area_m2: Type.Number({ description: 'area on the WGS 84 ellipsoid, m²' }),
            name: Type.Optional(Type.String()),
            status: Type.Union([Type.Literal('registered'), Type.Literal('already_registered')]),
          }),
          { description: 'one per Feature, in the same order' },
        ),
      },
      { description: 'the GeoIDs' },
    ),
    ...errorAnswers(400, 403, 409, 413, 500, 503),
    ...refusedWithAssetRegistry,
  },
};

export const getFieldSchema = {
  operationId: 'getField',
  tags: ['GeoIDs'],
  summary: 'Get a registered field',
  params: Type.Object({ geoid: Type.String({ minLength: 1, maxLength: 256, description: 'GeoID' }) }),
  response: {
    200: {
      description: 'the field as a GeoJSON Feature',
      content: { 'application/geo+json': { schema: StoredFeature } },
    },
    ...errorAnswers(404, 500, 503),
    ...refusedWithAssetRegistry,
  },
};

export const deleteFieldSchema = {
  operationId: 'deleteField',
  tags: ['GeoIDs'],
  summary: 'Delete a field that no packet refers to',
  description:
    'Only for administrators and the user who registered the field. Anyone can delete a field that was ' +
    'registered without a token, unless tokens are required. Its GeoID stays reserved for the same boundary.',
  params: Type.Object({ geoid: Type.String({ minLength: 1, maxLength: 256, description: 'GeoID' }) }),
  response: {
    204: Type.Null({ description: 'the field was deleted' }),
    ...errorAnswers(403, 404, 409, 500, 503),
    ...refusedWithAssetRegistry,
  },
};

const bbox = Type.Optional(
  Type.String({
    maxLength: 200,
    description:
      'west,south,east,north in degrees: fields with a bounding box that intersects this box; west > east crosses ' +
      'the date line',
    examples: ['76.8,30.3,76.9,30.4'],
  }),
);

/** Only described: the file is streamed as text. */
const FieldsFile: object = Type.Object({
  type: Type.Literal('FeatureCollection'),
  features: Type.Array(StoredFeature),
});

export const downloadFieldsSchema = {
  operationId: 'downloadFields',
  tags: ['GeoIDs'],
  summary: 'Export all registered fields as GeoJSON',
  description:
    'Returns a FeatureCollection (RFC 7946) without a page limit, from one snapshot, in no particular order. The ' +
    'answer is streamed. A failure breaks the connection, so an answer that ends properly is complete. It counts ' +
    'as an export: a caller can run one at a time (429), and a process two (503), one of them reserved for ' +
    'callers with a token if tokens are checked. A client that reads less than 64 KiB/s, on average over a ' +
    'minute in which data waits for it, is disconnected.',
  querystring: Type.Object({ bbox }),
  headers: PositionHeaders,
  response: {
    200: {
      description: 'the file',
      headers: { 'content-disposition': { type: 'string', description: 'contains the file name' } },
      content: { 'application/geo+json': { schema: FieldsFile } },
    },
    ...errorAnswers(400, 500, 503),
    ...refusedWithAssetRegistry,
  },
};

export const listFieldsSchema = {
  operationId: 'listFields',
  tags: ['GeoIDs'],
  summary: 'List registered fields',
  description:
    'Returns 100 fields per page, ordered by GeoID; next_cursor is present if there are more. GET ' +
    '/fields.geojson returns all fields at once.',
  querystring: Type.Object({
    bbox,
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'fields per page: 100 by default, at most 1000' }),
    ),
    cursor: Type.Optional(
      Type.String({ pattern: GEOID_PATTERN, description: 'next_cursor of the previous page' }),
    ),
  }),
  response: {
    200: {
      description: 'a GeoJSON FeatureCollection',
      content: {
        'application/geo+json': {
          schema: Type.Object({
            type: Type.Literal('FeatureCollection'),
            features: Type.Array(StoredFeature),
            next_cursor: Type.Optional(FieldGeoid),
          }),
        },
      },
    },
    ...errorAnswers(400, 500, 503),
    ...refusedWithAssetRegistry,
  },
};

const LIST_OF_GEOIDS = `^[0-9a-f]{64}(,[0-9a-f]{64}){0,${MAX_NAMED - 1}}$`;

export const listFieldNamesSchema = {
  operationId: 'listFieldNames',
  tags: ['GeoIDs'],
  summary: 'Get the names of registered fields',
  description:
    'Returns the names of fields by GeoID, in no particular order, or the fields with names that start with a ' +
    'text, by name. Fields without a name are left out.',
  querystring: Type.Object({
    geoids: Type.Optional(
      Type.String({
        pattern: LIST_OF_GEOIDS,
        maxLength: 65 * MAX_NAMED - 1,
        description: `GeoIDs separated by commas, at most ${MAX_NAMED}`,
      }),
    ),
    name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_NAME,
        description: `start of the name, ignoring case; returns the first ${MAX_FOUND} matches`,
      }),
    ),
  }),
  response: {
    200: Type.Object(
      { fields: Type.Array(Type.Object({ geoid: FieldGeoid, name: Type.String() })) },
      { description: 'the names' },
    ),
    ...errorAnswers(400, 500, 503),
    ...refusedWithAssetRegistry,
  },
};
