import { Type } from '../../../platform/type.ts';
import { failureAnswers } from '../../base/contract/envelope.ts';

const Holder = { user_id: Type.String(), discoverable: Type.Boolean() };

export const discoverabilitySchema = {
  operationId: 'lookUpContact',
  tags: ['Registry'],
  summary: 'Look up a user by contact, for the packet service',
  description:
    'Needs `Authorization: Bearer SERVICE_TOKEN`. Returns 404 if no active user has the contact, or its owner ' +
    "hasn't confirmed it. The fields of the answer are both in the envelope and at the top level, as in other " +
    'user registries.',
  querystring: Type.Object({ contact: Type.String({ minLength: 1, maxLength: 320 }) }),
  headers: Type.Object({ authorization: Type.Optional(Type.String({ maxLength: 9000 })) }),
  response: {
    200: Type.Object(
      { status: Type.Literal('OK'), data: Type.Object(Holder), ...Holder },
      { description: 'the user with the contact' },
    ),
    ...failureAnswers(401, 404),
  },
};

export const publicKeysSchema = {
  operationId: 'getPublicKeys',
  tags: ['Registry'],
  summary: 'Get the public keys of access tokens',
  response: {
    200: Type.Object(
      { keys: Type.Array(Type.Object({}, { additionalProperties: true })) },
      { description: 'JSON Web Key Set (RFC 7517)' },
    ),
    ...failureAnswers(),
  },
};
