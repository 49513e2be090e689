import type { Static } from 'typebox';
import { Type } from '../../../platform/type.ts';
import { errorAnswers } from '../../core/contract/schemas.ts';
import { refusedWithAssetRegistry } from '../../core/geoids/schemas.ts';
import { filters } from '../../core/packets/schemas.ts';
import { PositionHeaders } from '../../core/replicas/schemas.ts';
import { MAX_ZOOM } from './mercator.ts';

/** Characters of the text that a field must contain. */
const MAX_TEXT = 100;
/** Characters of a field's name. */
const MAX_FIELD = 100;

const number = (what: string) =>
  Type.Integer({ minimum: 0, maximum: 2 ** MAX_ZOOM - 1, description: `${what}, from 0 to 2^z − 1` });

const params = Type.Object({
  z: Type.Integer({ minimum: 0, maximum: MAX_ZOOM, description: `zoom, 0 to ${MAX_ZOOM}` }),
  x: number('column, counted eastwards from the antimeridian'),
  y: number('row, counted southwards from the north'),
});

export const MVT = 'application/vnd.mapbox-vector-tile';

const tile = {
  tags: ['Maps'],
  params,
  response: {
    200: {
      description: 'the tile',
      content: { [MVT]: { schema: Type.String({ format: 'binary' }) } },
    },
    304: Type.Null({ description: 'unchanged' }),
    ...errorAnswers(400, 500, 503),
  },
};

const scheme =
  'A Mapbox Vector Tile, version 2, in Web Mercator. The ETag changes with its bytes. Points beyond 85.0511 ' +
  'degrees of latitude are on the edge of the outermost tiles. ';

const { geoid, from, to, type } = filters;

const ObservationQuery = Type.Object({
  geoid,
  from,
  to,
  type,
  field: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_FIELD,
      description: `name of a field of the Body that must contain \`text\`; at most ${MAX_FIELD} characters`,
    }),
  ),
  text: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: MAX_TEXT,
      description: `text that \`field\` must contain, ignoring case; at most ${MAX_TEXT} characters`,
    }),
  ),
});
export type ObservationQuery = Static<typeof ObservationQuery>;

export const observationTileSchema = {
  ...tile,
  operationId: 'getObservationTile',
  summary: 'Get the observations of a map tile',
  description:
    `${scheme}Layer \`observations\`: points, each in exactly one tile per zoom. Up to zoom 13, a point stands for ` +
    'all observations of one S2 cell in the tile, at their mean position, with `count`, `cell` (its token) and, ' +
    'for a single observation, usually `id`. Counts lag by about a second, more under load. From zoom 14, each ' +
    'point is one observation with `id`, `type` and `time`; more than 2,000 in a tile are grouped. With a ' +
    'filter, and from zoom 14, a tile contains at most 20,000 packets; if there are more, the layer `truncated` ' +
    "has a point. Maps don't show chat messages.",
  headers: PositionHeaders,
  querystring: ObservationQuery,
};

export const fieldTileSchema = {
  ...tile,
  operationId: 'getFieldTile',
  summary: 'Get the registered fields of a map tile',
  description:
    `${scheme}Layer \`fields\`: up to zoom 13, points with \`count\` and \`cell\`, one for the fields centred in an S2 ` +
    'cell of the tile, with `geoid` if it is a single field. From zoom 14, polygons with `geoid`, `name` and ' +
    '`area_m2` in every tile that they intersect: at most 2,000, and 1 MiB of boundaries; if there are more, the ' +
    'layer `truncated` has a point.',
  headers: PositionHeaders,
  querystring: Type.Object({}),
  response: {
    ...tile.response,
    ...refusedWithAssetRegistry,
  },
};
