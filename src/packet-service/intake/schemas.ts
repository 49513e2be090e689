import { Type } from 'typebox';
import { PacketCreated } from '../packets/schemas.ts';
import { Attachments, CapturePoint, DateTime, errorAnswers, IdempotencyHeaders } from '../schemas.ts';

const Position = Type.Array(Type.Number(), { minItems: 2, maxItems: 4, description: 'longitude, latitude' });

const PointGeometry = Type.Object(
  { type: Type.Literal('Point'), coordinates: Position },
  { title: 'a Point', additionalProperties: true },
);

const PolygonGeometry = Type.Object(
  {
    type: Type.Literal('Polygon'),
    coordinates: Type.Array(Type.Array(Position, { minItems: 4, maxItems: 10_000 }), {
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
  { description: 'GeoJSON Point or Polygon, bare or in a Feature; capture_point wins over it' },
);

export const ScoutingBody = Type.Object(
  {
    observed_at: { ...DateTime, description: 'when it was seen; ISO 8601, UTC without an offset' },
    capture_point: Type.Optional(CapturePoint),
    geojson: Type.Optional(GeoJson),
    message: Type.Optional(Type.String({ description: 'observation text; empty when absent' })),
    attachments: Type.Optional(Attachments),
  },
  {
    additionalProperties: true,
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
    'packet is durable. A failed GeoID resolution is 400; with Retry-After when the registry cannot be reached.',
  headers: IdempotencyHeaders,
  body: ScoutingBody,
  response: { 201: PacketCreated, ...errorAnswers(400, 409, 413, 500, 503) },
};
