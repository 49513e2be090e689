import { Type } from '../../../platform/type.ts';
import { ULID_PATTERN } from '../packet-format/ulid.ts';

/** The error body of every answer of 400 and above. */
export const ErrorBody = Type.Object(
  { error: Type.String({ description: 'the error; starts with the name of the field, if one is wrong' }) },
  { additionalProperties: false },
);

const described = (description: string) => ({ ...ErrorBody, description });

/** The error answers of a route, for its `response` schema. */
export const errors = {
  400: described('a field is missing or has a wrong value'),
  401: described('no valid token; every route except the open ones can return this'),
  403: described("the token's user isn't allowed to do this"),
  404: described('not found'),
  408: described('the body arrives too slowly'),
  409: described('the id or Idempotency-Key is already used for other content'),
  410: described('the packet was erased; only its Header and hash remain'),
  412: described('unsupported protocol version'),
  413: described('too large for this endpoint'),
  415: described('unsupported Content-Type'),
  416: described('the range is outside the file'),
  429: described('too many recent or concurrent requests; Retry-After says when to retry'),
  500: described('internal error; nothing was stored'),
  503: described('temporarily unavailable; Retry-After says when to retry'),
} as const;

/** Picks error answers by status; 401 and 429 are always among them. */
export function errorAnswers<Status extends keyof typeof errors>(...statuses: Status[]) {
  const all = [401 as const, 429 as const, ...statuses];
  return Object.fromEntries(all.map(status => [status, errors[status]])) as Pick<
    typeof errors,
    Status | 401 | 429
  >;
}

export const Ulid = Type.String({
  pattern: ULID_PATTERN,
  description: 'ULID',
  examples: ['01JD7Q2M8XW3N5R6T8V9Y0Z1A2'],
});

/** A ULID in a path. Any text is accepted; one that is no ULID is not found. */
/** The ids in examples, for which the page of the documentation puts those of what it has created. */
export const EXAMPLE_IDS = {
  packet: '01JD7Q2M8XW3N5R6T8V9Y0Z1A2',
  thread: '01JD7Q2M8XW3N5R6T8V9Y0Z1A3',
  share: '01JD7Q2M8XW3N5R6T8V9Y0Z1A4',
} as const;

export const PathId = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'ULID',
  examples: [EXAMPLE_IDS.packet],
});

/** Maximum characters of a user identifier. */
export const MAX_USER = 256;

export const UserId = Type.String({
  minLength: 1,
  maxLength: MAX_USER,
  description: 'user identifier',
  examples: ['amina'],
});

export const DateTime = Type.String({
  maxLength: 40,
  description: 'ISO 8601 date-time; without an offset it is UTC',
  examples: ['2026-03-01T08:15:00+03:00'],
});

export const CapturePoint = Type.Object(
  {
    lat: Type.Number({ minimum: -90, maximum: 90, description: 'degrees north' }),
    lon: Type.Number({ minimum: -180, maximum: 180, description: 'degrees east' }),
  },
  { description: 'place of the observation, WGS 84' },
);

/** Maximum characters of a file reference that is a string. */
const MAX_REFERENCE = 2048;

/**
 * File references, kept as sent; `att_<ULID>` refers to an attachment. One schema with two types instead of a union,
 * because a union could only say of a string that is too long that it is neither a string nor an object.
 */
export const Attachments = Type.Array(
  Type.Unsafe<string | Record<string, unknown>>({
    type: ['string', 'object'],
    maxLength: MAX_REFERENCE,
    description: `a string of at most ${MAX_REFERENCE} characters, or an object`,
  }),
  { maxItems: 100, description: 'file references, kept as sent' },
);

export const GeoId = Type.String({
  maxLength: 256,
  description: 'GeoID: identifies a field or a point',
  examples: ['60d1c38e874410359d1591417137d7c1f41f3707108fb83075d7691e4312ce33'],
});

/** The Idempotency-Key of requests that create something. */
export const IdempotencyHeaders = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'a retry with the same key and body gets the first answer, for 7 days',
    }),
  ),
});
