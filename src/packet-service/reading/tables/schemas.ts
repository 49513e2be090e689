import type { Static } from 'typebox';
import { Type } from '../../../platform/type.ts';
import { errorAnswers, Ulid } from '../../core/contract/schemas.ts';
import { filters, PointOrNull } from '../../core/packets/schemas.ts';
import { PositionHeaders } from '../../core/replicas/schemas.ts';
import { DECLARED_COLUMNS, MAX_COLUMNS, MAX_NAME } from './columns.ts';
import { NAME_COLUMNS } from './names.ts';

/** Maximum characters of `columns=`: a request line and its headers have 16 KiB. */
const MAX_COLUMNS_TEXT = 8000;

/** The header of tables in which fields have no column. */
export const FIELDS_LEFT_OUT = 'fields-left-out';

const columns = Type.Optional(
  Type.String({
    maxLength: MAX_COLUMNS_TEXT,
    description:
      `additional columns, separated by commas: at most ${MAX_COLUMNS} of at most ${MAX_NAME} characters. By ` +
      'default, all fields that occur in the packets, sorted by name. If there are too many, the most frequent ' +
      'ones; the header Fields-Left-Out counts the others',
  }),
);

const names = Type.Optional(
  Type.String({
    maxLength: 100,
    pattern: `^(${NAME_COLUMNS.join('|')})(,(${NAME_COLUMNS.join('|')}))?$`,
    description:
      'adds columns with current names: field_name, the registered name of the field, and author_name, if the ' +
      "caller can see the author's name (GET /people/names). Packet fields with these names then become " +
      'body.field_name and body.author_name',
  }),
);

const common =
  'Returns all packets that match the filters, without a page limit, from one snapshot. Columns: ' +
  `${DECLARED_COLUMNS.join(', ')}, then one per further field of the Header and Body; nested objects are ` +
  'flattened, with dots in the names. The answer is streamed. A failure breaks the connection, so an answer ' +
  'that ends properly is complete. Tables count as exports: a caller can run one at a time (429), and a ' +
  'process two (503), one of them reserved for callers with a token if tokens are checked. A client that reads ' +
  'less than 64 KiB/s, on average over a minute in which data waits for it, is disconnected.';

const raw = Type.Optional(
  Type.Union([Type.Literal('true'), Type.Literal('false')], {
    description: "true: don't escape cells that look like formulas",
  }),
);

const order = Type.Optional(
  Type.Union([Type.Literal('desc'), Type.Literal('asc')], {
    description: 'desc: newest first; asc: oldest first; by default unordered, which is faster',
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
        'content-disposition': { type: 'string', description: 'contains the file name' },
        [FIELDS_LEFT_OUT]: {
          type: 'string',
          description:
            'approximate number of fields without a column, if any; use columns= to choose columns',
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
  'Export packets as CSV',
  'CSV (RFC 4180) in UTF-8: a header line, then one line per packet. Cells that start with = + - @, their ' +
    "full-width forms, a tab or a line break are prefixed with an apostrophe, so that spreadsheets don't run " +
    'them as formulas; numbers are not. Arrays are JSON text.',
  CSV,
  Type.String(),
  CsvQuery,
);

export const ndjsonSchema = table(
  'exportNdjson',
  'Export packets as NDJSON',
  'A JSON object per line.',
  NDJSON,
  Row,
  TableFilters,
);

export const geojsonSchema = table(
  'exportGeojson',
  'Export packets as GeoJSON',
  'A FeatureCollection (RFC 7946) with a Feature per packet, at its capture point. Arrays are JSON text.',
  GEOJSON,
  Type.Object({
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(
      Type.Object({ type: Type.Literal('Feature'), id: Ulid, geometry: PointOrNull, properties: Row }),
    ),
  }),
  TableFilters,
);
