import type { Static } from 'typebox';
import { Type } from '../../../platform/type.ts';
import { errorAnswers, Ulid } from '../../core/contract/schemas.ts';
import { filters, PointOrNull } from '../../core/packets/schemas.ts';
import { PositionHeaders } from '../../core/replicas/schemas.ts';
import { DECLARED_COLUMNS, MAX_COLUMNS, MAX_NAME } from './columns.ts';
import { NAME_COLUMNS } from './names.ts';

/** Characters of `columns=`, at most: a request line and its headers have 16 KiB. */
const MAX_COLUMNS_TEXT = 8000;

/** The header of tables in which fields have no column. */
export const FIELDS_LEFT_OUT = 'fields-left-out';

const columns = Type.Optional(
  Type.String({
    maxLength: MAX_COLUMNS_TEXT,
    description:
      `columns beside the declared ones, separated by commas: at most ${MAX_COLUMNS} of at most ${MAX_NAME} ` +
      'characters. By default, those that occur in the packets, sorted by name; if there are more, those of the most ' +
      'packets, and the header Fields-Left-Out has the number of the others',
  }),
);

const names = Type.Optional(
  Type.String({
    maxLength: 100,
    pattern: `^(${NAME_COLUMNS.join('|')})(,(${NAME_COLUMNS.join('|')}))?$`,
    description:
      'columns of names after the declared ones: field_name, what the field of the GeoID was registered as, and ' +
      'author_name, of authors whom the caller may know (GET /people/names). They are those of now. Fields of packets that are called so are in body.field_name and body.author_name then',
  }),
);

const common =
  'All packets of the filters, without a page limit, from one snapshot. Columns: ' +
  `${DECLARED_COLUMNS.join(', ')}, then one for each further field of the Header and Body; nested objects are ` +
  'flattened, with dots in the names. The answer is streamed. A failure breaks the connection: an answer that ends properly is complete. Tables count as exports: a caller may have one ' +
  'at a time (429), and a process runs two (503), one of them ' +
  'for callers with a token if it checks tokens. A client that reads less than 64 KiB/s, on average over a minute in ' +
  'which something waits for it, is disconnected.';

const raw = Type.Optional(
  Type.Union([Type.Literal('true'), Type.Literal('false')], {
    description: 'true: leave cells that begin like a formula as they are',
  }),
);

const order = Type.Optional(
  Type.Union([Type.Literal('desc'), Type.Literal('asc')], {
    description: 'desc: newest first, asc: oldest first; by default in no order, which is faster',
  }),
);

const tableFilters = { ...filters, columns, names, order };
const TableFilters = Type.Object(tableFilters);
const CsvQuery = Type.Object({ ...tableFilters, raw });
/** The parameters of all tables. */
export type TableQuery = Static<typeof CsvQuery>;

const table = (
  operationId: string,
  summary: string,
  description: string,
  type: string,
  schema: object,
  query: object,
) => ({
  operationId,
  tags: ['Packets'],
  summary,
  description: `${description} ${common}`,
  querystring: query,
  headers: PositionHeaders,
  response: {
    200: {
      description: 'the table',
      headers: {
        'content-disposition': { type: 'string', description: 'names the file' },
        [FIELDS_LEFT_OUT]: {
          type: 'string',
          description: 'about how many fields have no column, if any; columns= names the ones you need',
        },
      },
      content: { [type]: { schema } },
    },
    ...errorAnswers(400, 500, 503),
  },
});

export const CSV = 'text/csv';
export const NDJSON = 'application/x-ndjson';
export const GEOJSON = 'application/geo+json';

const Row = Type.Object(
  { id: Ulid },
  { additionalProperties: true, description: 'every column, null where the packet has no value' },
);

export const csvSchema = table(
  'exportCsv',
  'Packets as CSV',
  'CSV as in RFC 4180, in UTF-8: a line of names, then one per packet. Cells that begin with = + - @, their ' +
    'full-width forms, a tab or a line break get an apostrophe before them, as spreadsheets would run them; numbers do not. Arrays are JSON text.',
  CSV,
  Type.String(),
  CsvQuery,
);

export const ndjsonSchema = table(
  'exportNdjson',
  'Packets as NDJSON',
  'A JSON object per line.',
  NDJSON,
  Row,
  TableFilters,
);

export const geojsonSchema = table(
  'exportGeojson',
  'Packets as GeoJSON',
  'A FeatureCollection (RFC 7946) of a Feature per packet, at its capture point. Arrays are JSON text.',
  GEOJSON,
  Type.Object({
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(
      Type.Object({ type: Type.Literal('Feature'), id: Ulid, geometry: PointOrNull, properties: Row }),
    ),
  }),
  TableFilters,
);
