import { named } from '../../../platform/http/shared-parts.ts';
import { SCOPES } from '../../../platform/tokens/api-key.ts';
import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { DateTime, NO_NUL } from '../../base/contract/schemas.ts';
import { FreshCode } from '../users/schemas.ts';
import { MAX_API_KEYS } from './store.ts';

/** The maximum and the default lifetime of a key, in days. */
export const LONGEST_DAYS = 5 * 365;
export const DEFAULT_DAYS = 365;

const Scopes = Type.Array(Type.Enum([...SCOPES]), {
  minItems: 1,
  maxItems: SCOPES.length,
  description:
    'read: safe methods and searches; write: everything the user can do, except administration; admin: ' +
    'administration too, if the user is an administrator. Each scope includes the previous ones',
  examples: [['read']],
});

const Name = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: NO_NUL,
  description: 'purpose of the key',
  examples: ['weather station'],
});

export const NewKey = named(
  'NewApiKey',
  Type.Object({
    name: Name,
    scopes: Scopes,
    expiresAt: Type.Optional(
      Type.String({
        maxLength: 40,
        description:
          `expiry of the key, in UTC unless it has an offset; at most ${LONGEST_DAYS} days from now, by default ` +
          `${DEFAULT_DAYS}`,
        examples: ['2030-01-01T00:00:00Z'],
      }),
    ),
    code: FreshCode,
  }),
);

/** The body of a revocation; it can be omitted by users without a second factor. */
const Revocation = Type.Object({ code: FreshCode });

/** Any text is accepted in a path; one that is not a UUID is not found. */
const KeyId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'id of the key',
  examples: ['0b2d2c52-1b1c-4a53-9c1f-6f3c2d1e0a99'],
});

const fields = {
  id: KeyId,
  name: Name,
  scopes: Scopes,
  createdAt: DateTime,
  expiresAt: DateTime,
};

export const ApiKey = named(
  'ApiKey',
  Type.Object({
    ...fields,
    lastUsedAt: Type.Optional({ ...DateTime, description: 'to the minute; absent if never used' }),
  }),
);

const CreatedKey = Type.Object({
  ...fields,
  key: Type.String({
    description: 'the key; shown only once',
    examples: ['ft_9dXo3sB1kQvZ7mT0cYh4LwR2uJ8aE6gPfN5iK1xVzHtDq0CbS7'],
  }),
});

const tags = ['User'];

export const createApiKeySchema = {
  operationId: 'createApiKey',
  tags,
  summary: 'Create a key for a program',
  description:
    'Both services accept the key as `Authorization: Bearer ft_…`, on behalf of its user, until it expires or is ' +
    "revoked. A key can't do anything that needs a login: create or revoke keys, change the password, second " +
    `factor or email address, end sessions, or erase the account. A user has at most ${MAX_API_KEYS} keys. ` +
    'Setting a new password or a second factor, and closing the account, end all keys. Needs a code if the ' +
    'account has a second factor.',
  body: NewKey,
  response: { 200: envelope(CreatedKey, 'the key'), ...failureAnswers(401, 403) },
};

export const listApiKeysSchema = {
  operationId: 'listApiKeys',
  tags,
  summary: "List the caller's keys",
  description: 'Newest first, without the secret keys.',
  response: {
    200: envelope(
      Type.Object({
        items: Type.Array(ApiKey, { maxItems: MAX_API_KEYS }),
        count: Type.Integer(),
        offset: Type.Integer(),
        limit: Type.Integer(),
      }),
      'the keys',
    ),
    ...failureAnswers(401, 403),
  },
};

export const revokeApiKeySchema = {
  operationId: 'revokeApiKey',
  tags,
  summary: 'Revoke a key',
  description:
    'Takes effect at once here and in a packet service in the same process, and within 30 seconds in other ' +
    'processes. Needs a code if the account has a second factor.',
  params: Type.Object({ id: KeyId }),
  body: Revocation,
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};

export const resolveApiKeySchema = {
  operationId: 'resolveApiKey',
  tags: ['Registry'],
  summary: 'Look up a user by key, for the packet service',
  description:
    'Needs `Authorization: Bearer SERVICE_TOKEN`. The SHA-256 identifies the key, so that the key itself is ' +
    'never sent to another service. Returns 404 if the key is revoked or expired. The fields of the answer are ' +
    'both in the envelope and at the top level, as in other user registries.',
  headers: Type.Object({ authorization: Type.Optional(Type.String({ maxLength: 9000 })) }),
  body: Type.Object({
    sha256: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the key, in hexadecimal' }),
  }),
  response: { 200: resolved(), ...failureAnswers(401, 404) },
};

function resolved() {
  const holder = {
    user_id: Type.String(),
    role: Type.String({ description: 'SYSTEM_ADMIN, REGIONAL_ADMIN or USER; USER without the scope admin' }),
    scopes: Scopes,
    expires_at: DateTime,
    lacks_second_factor: Type.Boolean({
      description: 'true: the key is blocked until its user creates another one with a second factor',
    }),
  };
  return Type.Object(
    { status: Type.Literal('OK'), data: Type.Object(holder), ...holder },
    { description: 'the user of the key' },
  );
}
