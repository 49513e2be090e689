import type { Static } from 'typebox';
import { Type } from '../../../platform/type.ts';
import { Attachments, DateTime, errorAnswers, GeoId, PathId, Ulid } from '../contract/schemas.ts';
import { PositionHeaders } from '../replicas/schemas.ts';

export const Header = Type.Object(
  {
    id: Ulid,
    geoid: GeoId,
    timestamp: DateTime,
    type: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'note, file_ref, chat_message, weather, custom or any other type',
      examples: ['note'],
    }),
    tenant: Type.Optional(Type.Object({}, { additionalProperties: true })),
    prev: Type.Optional({ ...Ulid, description: 'ULID of an earlier packet that this one continues' }),
  },
  { additionalProperties: true },
);

export const Body = Type.Object(
  {
    message: Type.Optional(Type.String({ description: 'observation text, as long as the packet allows' })),
    attachments: Type.Optional(Attachments),
  },
  { additionalProperties: true, description: "the client's content, with every field as sent" },
);

export const Footer = Type.Object(
  {
    hash: Type.String({
      pattern: '^[0-9a-f]{64}$',
      description: 'SHA-256 over the canonical JSON (RFC 8785) of Header and of Body, in lowercase hex',
    }),
    enc: Type.String({ maxLength: 64, description: 'none, or encrypted if the Body has a JWE' }),
    lang: Type.String({ maxLength: 35, description: 'language tag (BCP 47); und if unknown' }),
    tags: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        maxItems: 16,
        description: 'truncated if the chat text was too long',
      }),
    ),
  },
  { additionalProperties: true },
);

export const PacketObject = Type.Object({ Header, Body, Footer }, { description: 'the packet' });

export const ErasedPacket = Type.Object(
  { Header, Footer: Type.Object({ hash: Footer.properties.hash }) },
  { description: 'what remains of an erased packet' },
);

export const PacketCreated = Type.Object(
  { packet_uuid: Ulid },
  { description: 'the packet is stored', examples: [{ packet_uuid: '01JD7Q2M8XW3N5R6T8V9Y0Z1A2' }] },
);

const tags = ['Packets'];

export const getPacketSchema = {
  operationId: 'getPacket',
  tags,
  summary: 'Get a packet',
  description:
    'The ETag is the hash. Packets never change, so If-None-Match with the hash returns 304. Browsers get a page.',
  params: Type.Object({ id: PathId }),
  headers: PositionHeaders,
  response: {
    200: {
      description: 'the packet',
      content: { 'application/json': { schema: PacketObject }, 'text/html': { schema: Type.String() } },
    },
    304: Type.Null({ description: 'unchanged' }),
    ...errorAnswers(400, 403, 404, 410, 500, 503),
  },
};

const counted = {
  count: Type.Integer({ description: 'packets on this page' }),
  next_cursor: Type.Optional({ ...Ulid, description: 'absent on the last page' }),
};

const authors = {
  authors: Type.Optional(
    Type.Array(Type.Union([Type.String(), Type.Null()]), {
      description: 'the senders in the order of the packets; null if a packet was sent without a token',
    }),
  ),
};

const Page = Type.Object({ packets: Type.Array(PacketObject), ...counted, ...authors });

/** The geometry of a packet as a GeoJSON Feature. */
export const PointOrNull = Type.Union([
  Type.Object({
    type: Type.Literal('Point'),
    coordinates: Type.Array(Type.Number(), {
      minItems: 2,
      maxItems: 2,
      description: 'longitude, latitude',
    }),
  }),
  Type.Null({ description: 'without a capture point' }),
]);

const FeaturePage = Type.Object({
  type: Type.Literal('FeatureCollection'),
  features: Type.Array(
    Type.Object({
      type: Type.Literal('Feature'),
      id: Ulid,
      geometry: PointOrNull,
      properties: PacketObject,
    }),
  ),
  ...counted,
  ...authors,
});

/** Packets of one hour are counted up to this. */
export const COUNTED_PER_HOUR = 5000;
const MAX_HOURS = 48;

export const arrivalsSchema = {
  operationId: 'countArrivals',
  headers: PositionHeaders,
  tags,
  summary: 'Count packets per hour',
  description: `Counts by the time in packet ids, up to ${COUNTED_PER_HOUR} packets per hour.`,
  querystring: Type.Object({
    from: Type.String({
      maxLength: 40,
      description: 'ISO 8601 date-time or date: the start of the first hour',
    }),
    hours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MAX_HOURS, description: `24 by default, at most ${MAX_HOURS}` }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        hours: Type.Array(
          Type.Object({
            from: Type.String({ description: 'start of the hour; ISO 8601, UTC' }),
            count: Type.Integer(),
          }),
        ),
        limit: Type.Integer({ description: 'the highest count; the real number may be higher' }),
      },
      { description: 'the hours' },
    ),
    ...errorAnswers(400, 500, 503),
  },
};

/** The filters of packets: filter.ts parses them, filter-store.ts has their conditions. */
export const filters = {
  geoid: Type.Optional({ ...GeoId, description: 'the GeoID of the packet, or one of its additional GeoIDs' }),
  from: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601 date-time or date, inclusive' })),
  to: Type.Optional(Type.String({ maxLength: 40, description: 'ISO 8601 date-time or date, inclusive' })),
  made_from: Type.Optional(
    Type.String({
      maxLength: 40,
      description:
        'like `from`, but for the time in packet ids, to the millisecond; /packets/arrivals counts by this time',
    }),
  ),
  made_to: Type.Optional(
    Type.String({ maxLength: 40, description: 'like `to`, but for the time in packet ids' }),
  ),
  type: Type.Optional(Type.String({ maxLength: 64, description: 'packet type' })),
  bbox: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'west,south,east,north in degrees: packets with a capture point inside this box',
    }),
  ),
  near: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'lat,lon,metres: capture points within this distance, at most 20,100,000',
    }),
  ),
};
const Filters = Type.Object(filters);
export type FilterQuery = Static<typeof Filters>;

export const listPacketsSchema = {
  operationId: 'listPackets',
  headers: PositionHeaders,
  tags,
  summary: 'List packets, newest first',
  description:
    'Returns a FeatureCollection with `Accept: application/geo+json`. Empty parameters are ignored. Pages are ' +
    "ordered by time, and packets can arrive late: use /sync/packets if you can't miss any.",
  querystring: Type.Object({
    ...filters,
    order: Type.Optional(
      Type.Union([Type.Literal('desc'), Type.Literal('asc')], {
        description: 'desc (newest first) by default',
      }),
    ),
    authors: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], {
        description: 'true: the page includes the senders of its packets',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'packets per page: 100 by default, at most 1000' }),
    ),
    cursor: Type.Optional(Type.String({ maxLength: 100, description: 'next_cursor of the previous page' })),
  }),
  response: {
    200: {
      description: 'a page',
      content: { 'application/json': { schema: Page }, 'application/geo+json': { schema: FeaturePage } },
    },
    ...errorAnswers(400, 500, 503),
  },
};
