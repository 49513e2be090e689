import type { Static } from 'typebox';
import { Type } from '../../platform/type.ts';
import { ChatMessageBody, forbidden } from '../collaboration/chat/schemas.ts';
import {
  Attachments,
  CapturePoint,
  DateTime,
  errorAnswers,
  IdempotencyHeaders,
} from '../core/contract/schemas.ts';
import { Body, Footer, Header, PacketCreated } from '../core/packets/schemas.ts';
import { MAX_ITEMS } from './items.ts';

const Position = Type.Array(Type.Number(), { minItems: 2, maxItems: 4, description: 'longitude, latitude' });

const PointGeometry = Type.Object(
  { type: Type.Literal('Point'), coordinates: Position },
  { title: 'a Point', additionalProperties: true },
);

const PolygonGeometry = Type.Object(
  {
    type: Type.Literal('Polygon'),
    coordinates: Type.Array(Type.Array(Position, { minItems: 4, maxItems: 5000 }), {
      minItems: 1,
      maxItems: 100,
    }),
  },
  { title: 'a Polygon', additionalProperties: true },
);

/** The location if there is no capture point: GeoJSON (RFC 7946), a geometry or a Feature. */
export const GeoJson = Type.Union(
  [
    PointGeometry,
    PolygonGeometry,
    Type.Object(
      { type: Type.Literal('Feature'), geometry: Type.Union([PointGeometry, PolygonGeometry]) },
      { title: 'a Feature of one of them', additionalProperties: true },
    ),
  ],
  { description: 'GeoJSON Point or Polygon, bare or in a Feature' },
);

export const ScoutingBody = Type.Object(
  {
    observed_at: {
      ...DateTime,
      description:
        "time of the observation; ISO 8601, UTC without an offset; at most a day ahead of the server's clock",
    },
    capture_point: Type.Optional(CapturePoint),
    geojson: Type.Optional(
      Type.Unknown({
        description: 'the place as GeoJSON; with a capture_point, kept as sent',
      }),
    ),
    message: Type.Optional(
      Type.String({ description: 'observation text, as long as the body allows; empty by default' }),
    ),
    attachments: Type.Optional(Attachments),
  },
  {
    additionalProperties: true,
    if: { required: ['capture_point'] },
    else: { properties: { geojson: GeoJson } },
    description:
      'requires observed_at and either capture_point or geojson; all other fields are kept in the Body',
    examples: [
      {
        observed_at: '2026-03-01T08:15:00Z',
        capture_point: { lat: 40.7128, lon: -74.006 },
        message: 'Leaf rust on the lower leaves',
        severity: 2,
      },
    ],
  },
);

export const scoutingSchema = {
  operationId: 'submitObservation',
  tags: ['Intake'],
  summary: 'Store a field observation',
  description:
    'Resolves the place to a GeoID and stores the observation as a packet of type note. Answers once the packet ' +
    "is durable. Returns 400 if the GeoID can't be resolved, with Retry-After if the registry is unreachable. A " +
    'packet has at most 100 further GeoIDs; if there are more, the largest fields are left out.',
  headers: IdempotencyHeaders,
  body: ScoutingBody,
  response: { 201: PacketCreated, ...errorAnswers(400, 403, 409, 410, 413, 500, 503) },
};

/** The header of answers to messages that are stored truncated. */
export const TRUNCATED = 'fieldtrace-truncated';

export const chatMessageSchema = {
  operationId: 'submitChatMessage',
  tags: ['Intake'],
  summary: 'Store a chat message',
  description:
    'Stores the message as a packet of type chat_message, with the time of receipt as its timestamp. The GeoID ' +
    'comes from the capture point, or else from the first of geoids, or else is empty; no registry is needed. ' +
    "Answers once the packet is durable. With a token, the token's user is the sender and must be a participant " +
    'of the thread.',
  headers: IdempotencyHeaders,
  body: ChatMessageBody,
  response: {
    201: {
      ...PacketCreated,
      headers: {
        [TRUNCATED]: {
          type: 'string',
          description: 'contains "text" if only the first 250 Unicode characters of the text are stored',
        },
      },
    },
    403: forbidden,
    ...errorAnswers(400, 404, 409, 410, 413, 500, 503),
  },
};

/**
 * The kinds of intake: POST /intake/{name} accepts one, POST /intake/batch items of any kind. kinds.ts makes their
 * packets.
 */
export const intakeSchemas = {
  scouting: scoutingSchema,
  'chat-message': chatMessageSchema,
};
export type IntakeName = keyof typeof intakeSchemas;
export type IntakeBody<Name extends IntakeName> = Static<(typeof intakeSchemas)[Name]['body']>;
export const INTAKE_NAMES = Object.keys(intakeSchemas) as IntakeName[];

/** An item of a batch. Its body is that of the endpoint for single items. */
export const BatchItem = Type.Object(
  {
    intake: Type.Unsafe<IntakeName>(
      Type.Union(
        INTAKE_NAMES.map(name => Type.Literal(name)),
        {
          description: `the endpoint for a single item: ${INTAKE_NAMES.map(name => `/intake/${name}`).join(' or ')}`,
        },
      ),
    ),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'like the Idempotency-Key header of the endpoint for a single item, which shares its keys. By default the ' +
          "Idempotency-Key header of the batch, a slash, and the item's index, starting at 0: sending the item alone " +
          "with this key doesn't store it twice",
      }),
    ),
    body: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: false },
);

/** Maximum bytes per batch. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

/** The result of an item: {packet_uuid, truncated}, or {error, status, reason, parameters, retry_after}. */
const ItemResult = Type.Object({
  packet_uuid: Type.Optional(Type.String({ description: 'the item is stored' })),
  truncated: Type.Optional(
    Type.Array(Type.String(), {
      description: 'the truncated fields, if any: text is cut after 250 Unicode characters',
    }),
  ),
  error: Type.Optional(Type.String({ description: 'error message' })),
  status: Type.Optional(Type.Integer({ description: 'the HTTP status that a single request would return' })),
  reason: Type.Optional(Type.String({ description: 'reason of the error, for programs' })),
  parameters: Type.Optional(
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
      description: 'parameters of the reason, such as field',
    }),
  ),
  retry_after: Type.Optional(Type.Integer({ description: 'seconds to wait before sending the item again' })),
});

export const batchSchema = {
  operationId: 'submitBatch',
  tags: ['Intake'],
  summary: 'Store many observations and messages at once',
  description:
    'For phones that were offline: a JSON array, or NDJSON (application/x-ndjson, which also returns NDJSON). ' +
    'Every item has at most 512 KiB and is processed independently of the others. Answers once all accepted ' +
    'items are durable. If a result has `retry_after`, send the item again with the same key after that many ' +
    'seconds. A rejected item without `retry_after` will never be accepted.',
  headers: IdempotencyHeaders,
  consumes: ['application/json', 'application/x-ndjson'],
  body: Type.Array(BatchItem, {
    minItems: 1,
    maxItems: MAX_ITEMS,
    examples: [
      [
        {
          intake: 'scouting',
          body: {
            observed_at: '2026-03-01T14:00:00Z',
            capture_point: { lat: 40.7128, lon: -74.006 },
            message: 'Berries ripening',
          },
        },
      ],
    ],
  }),
  response: {
    200: {
      description: 'the result of each item',
      content: {
        'application/json': {
          schema: Type.Object({
            results: Type.Array(ItemResult, { description: 'one per item, in order' }),
          }),
        },
        'application/x-ndjson': { schema: ItemResult },
      },
    },
    ...errorAnswers(400, 403, 413, 500, 503),
  },
};

export const postPacketSchema = {
  operationId: 'submitPacket',
  tags: ['Packets'],
  summary: 'Store a finalized packet',
  description:
    'For clients that create packets offline, with id and hash. Returns 201 if the hash is correct and the id is ' +
    'new, 200 if the same packet is already stored, 409 if the id belongs to another packet, and 410 if the ' +
    'packet was erased. Header.timestamp needs an offset. Header.timestamp and the time in Header.id can be at ' +
    "most a day ahead of the server's clock (400); the Date header of the answer has the server's time. " +
    'Footer.enc is none, or encrypted with a JWE in Body.jwe. Footer.lang is a BCP 47 tag. All other Footer ' +
    'fields are kept.',
  headers: IdempotencyHeaders,
  body: Type.Object({ Header, Body, Footer }, { additionalProperties: false }),
  response: {
    200: { ...PacketCreated, description: 'the packet was already stored' },
    201: PacketCreated,
    ...errorAnswers(400, 403, 404, 409, 410, 413, 500, 503),
  },
};
