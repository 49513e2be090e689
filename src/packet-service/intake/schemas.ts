import { type Static, Type } from 'typebox';
import { ChatMessageBody, forbidden } from '../chat/schemas.ts';
import {
  Attachments,
  CapturePoint,
  DateTime,
  errorAnswers,
  IdempotencyHeaders,
} from '../contract/schemas.ts';
import { Body, Footer, Header, PacketCreated } from '../packets/schemas.ts';
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

/** What stands for the place when there is no capture point: GeoJSON (RFC 7946), a geometry or a Feature. */
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
    observed_at: { ...DateTime, description: 'when it was seen; ISO 8601, UTC without an offset' },
    capture_point: Type.Optional(CapturePoint),
    geojson: Type.Optional(
      Type.Unknown({
        description:
          'the place as GeoJSON when there is no capture_point; beside one a further field, kept as sent',
      }),
    ),
    message: Type.Optional(
      Type.String({ description: 'observation text, as long as the body allows; empty when absent' }),
    ),
    attachments: Type.Optional(Attachments),
  },
  {
    additionalProperties: true,
    if: { required: ['capture_point'] },
    else: { properties: { geojson: GeoJson } },
    description: 'observed_at and either capture_point or geojson; every further field is kept in the Body',
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
  tags: ['Intake'],
  summary: 'Store a field observation',
  description:
    'Resolves the place to a GeoID and stores the observation as a packet of type note. Answered after the ' +
    'packet is durable. A failed GeoID resolution is 400; with Retry-After when the registry cannot be reached. ' +
    'A packet has at most 100 further GeoIDs; those of the largest fields are left out.',
  headers: IdempotencyHeaders,
  body: ScoutingBody,
  response: { 201: PacketCreated, ...errorAnswers(400, 409, 410, 413, 500, 503) },
};

export const chatMessageSchema = {
  tags: ['Intake'],
  summary: 'Store a chat message',
  description:
    'Stores the message as a packet of type chat_message; its timestamp is the time of receipt. Its GeoID is that ' +
    'of the capture point, else the first of geoids, else empty: no registry is needed. Answered after the packet ' +
    'is durable. With a token, the sender is its user and must take part in the thread.',
  headers: IdempotencyHeaders,
  body: ChatMessageBody,
  response: { 201: PacketCreated, 403: forbidden, ...errorAnswers(400, 404, 409, 410, 413, 500, 503) },
};

/** The kinds of intake: POST /intake/{name} takes one, POST /intake/batch items of any. kinds.ts makes their packets. */
export const intakeSchemas = {
  scouting: scoutingSchema,
  'chat-message': chatMessageSchema,
};
export type IntakeName = keyof typeof intakeSchemas;
export type IntakeBody<Name extends IntakeName> = Static<(typeof intakeSchemas)[Name]['body']>;
export const INTAKE_NAMES = Object.keys(intakeSchemas) as IntakeName[];

/** An item of a batch. Its body is what clients would send to the endpoint for one. */
export const BatchItem = Type.Object(
  {
    intake: Type.Unsafe<IntakeName>(
      Type.Union(
        INTAKE_NAMES.map(name => Type.Literal(name)),
        {
          description: `the endpoint that would take the body alone: ${INTAKE_NAMES.map(name => `/intake/${name}`).join(' or ')}`,
        },
      ),
    ),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'as the Idempotency-Key header there; a key used there counts here, and the other way round. Without one the ' +
          "item's key is the Idempotency-Key header of the batch, a slash, and the place of the item, from 0 on",
      }),
    ),
    body: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: false },
);

/** Bytes of one batch, at most. */
export const MAX_BATCH_BYTES = 16 * 1024 * 1024;

/** What became of an item: {packet_uuid}, or {error, status, retry_after}. */
const ItemResult = Type.Object({
  packet_uuid: Type.Optional(Type.String({ description: 'the item is stored' })),
  error: Type.Optional(Type.String({ description: 'why it is not' })),
  status: Type.Optional(Type.Integer({ description: 'the HTTP status that the item alone would have got' })),
  retry_after: Type.Optional(Type.Integer({ description: 'seconds after which the same item may be taken' })),
});

export const batchSchema = {
  tags: ['Intake'],
  summary: 'Store many observations and messages at once',
  description:
    'For phones that come online with a day of work: a JSON array, or NDJSON (application/x-ndjson, answered as ' +
    'NDJSON). Every item has at most 512 KiB and is taken as if it had come alone; one that is refused harms no other. Answered after all ' +
    'that were taken are durable. An item that is answered with `retry_after` was not taken for now: send it again, ' +
    'under the same key, after so many seconds. One without it never will be.',
  headers: IdempotencyHeaders,
  consumes: ['application/json', 'application/x-ndjson'],
  body: Type.Array(BatchItem, { minItems: 1, maxItems: MAX_ITEMS }),
  response: {
    200: {
      description: 'what became of each item',
      content: {
        'application/json': {
          schema: Type.Object({
            results: Type.Array(ItemResult, { description: 'for each item, in their order' }),
          }),
        },
        'application/x-ndjson': { schema: ItemResult },
      },
    },
    ...errorAnswers(400, 413, 500, 503),
  },
};

export const postPacketSchema = {
  tags: ['Packets'],
  summary: 'Store a finalized packet',
  description:
    'For clients that make packets offline, ids and hashes included. 201 when the hash is right and the id new, ' +
    '200 when this very packet is stored already, 409 when the id belongs to another packet, 410 when it was erased. Header.timestamp has ' +
    'an offset, Footer.enc is none, or encrypted with a JWE in Body.jwe, Footer.lang is a BCP 47 tag; any other ' +
    'Footer field is kept.',
  headers: IdempotencyHeaders,
  body: Type.Object({ Header, Body, Footer }, { additionalProperties: false }),
  response: {
    200: { ...PacketCreated, description: 'the packet was stored before' },
    201: PacketCreated,
    ...errorAnswers(400, 403, 404, 409, 410, 413, 500, 503),
  },
};
