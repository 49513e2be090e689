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
  x: number('column, from the antimeridian eastwards'),
  y: number('row, from the north southwards'),
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
  'A Mapbox Vector Tile, version 2, in Web Mercator. The ETag changes with its bytes. What is beyond 85.0511 degrees of ' +
  'latitude is on the edge of the outermost tiles. ';

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
      description: `what \`field\` must contain, in upper or lower case; at most ${MAX_TEXT} characters`,
    }),
  ),
});
export type ObservationQuery = Static<typeof ObservationQuery>;

export const observationTileSchema = {
  ...tile,
  operationId: 'getObservationTile',
  summary: 'Observations of a tile of a map',
  description:
    `${scheme}Layer \`observations\`: points, each in exactly one tile of a zoom. Up to zoom 13 a point is all ` +
    'observations of one S2 cell within the tile, at their mean position: `count`, `cell` (its token) and, where it is ' +
    'one observation, usually `id`; they are about a second behind, more while much arrives. From zoom 14 on a point is one observation with `id`, `type` and ' +
    '`time`; more than 2,000 in a tile are grouped. With a filter, and from zoom 14 on, a tile is made from at most ' +
    '20,000 packets; if there are more, a point in the layer `truncated` says so. Chat messages are not on maps.',
  headers: PositionHeaders,
  querystring: ObservationQuery,
};

export const fieldTileSchema = {
  ...tile,
  operationId: 'getFieldTile',
  summary: 'Registered fields of a tile of a map',
  description:
    `${scheme}Layer \`fields\`: up to zoom 13 points with \`count\` and \`cell\`, each for the fields whose middle is in ` +
    'one S2 cell within the tile; `geoid` where it is one field. From zoom 14 on polygons with `geoid`, `name` and ' +
    '`area_m2`, in every tile that they meet: at most 2,000, and 1 MiB of boundaries; if there are more, a point in the ' +
    'layer `truncated` says so.',
  headers: PositionHeaders,
  querystring: Type.Object({}),
  response: {
    ...tile.response,
    ...refusedWithAssetRegistry,
  },
};
