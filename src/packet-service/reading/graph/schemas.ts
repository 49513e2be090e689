import { Type } from '../../../platform/type.ts';
import { errorAnswers, Ulid } from '../../core/contract/schemas.ts';
import { ULID_PATTERN } from '../../core/packet-format/ulid.ts';
import { filters } from '../../core/packets/schemas.ts';
import { PositionHeaders } from '../../core/replicas/schemas.ts';

/** The request; an empty text counts as absent. */
export const GraphRequest = Type.Object(
  {
    ...filters,
    packet_id: Type.Optional({ ...Ulid, pattern: `^$|${ULID_PATTERN}`, description: 'only this packet' }),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'maximum number of packets, newest first',
      }),
    ),
  },
  {
    additionalProperties: false,
    examples: [{ geoid: '60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33', type: 'note' }],
  },
);

export const NDJSON = 'application/x-ndjson';
export const N_TRIPLES = 'application/n-triples';

const Triple = Type.Object({
  subject: Type.String({ description: 'packet id' }),
  predicate: Type.String({ description: 'rdf:type, packet:type, packet:geoid …' }),
  object: Type.String(),
});

export const materializeSchema = {
  operationId: 'materializeGraph',
  tags: ['Graph'],
  summary: 'Export all packets as triples',
  description:
    'Streams one triple per line, from one snapshot. Without a body, or with an empty one or {}, nothing is ' +
    'filtered. `Accept: application/n-triples` returns RDF; otherwise each line is a JSON object. A failure ' +
    'breaks the connection, so a stream that ends properly is complete. A caller can run one export at a time ' +
    '(429), and a process two (503), one of them reserved for callers with a token if tokens are checked. A ' +
    'client that reads less than 64 KiB/s, on average over a minute in which data waits for it, is disconnected.',
  headers: PositionHeaders,
  body: GraphRequest,
  response: {
    200: {
      description: 'the triples',
      content: { [NDJSON]: { schema: Triple }, [N_TRIPLES]: { schema: Type.String() } },
    },
    ...errorAnswers(400, 413, 429, 500, 503),
  },
};

export const vocabularySchema = {
  operationId: 'getVocabulary',
  tags: ['Graph'],
  summary: 'Get the vocabulary of the graph',
  response: {
    200: { description: 'the vocabulary', content: { 'text/turtle': { schema: Type.String() } } },
    ...errorAnswers(500),
  },
};

export const graphPageSchema = {
  operationId: 'showGraph',
  tags: ['Graph'],
  summary: 'Show the packets around a GeoID or a packet as a graph',
  description: "A page that draws the graph. It reads the export with the caller's permissions.",
  response: {
    200: { description: 'a page', content: { 'text/html': { schema: Type.String() } } },
    ...errorAnswers(500),
  },
};
