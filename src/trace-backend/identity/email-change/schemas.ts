import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { DateTime } from '../../base/contract/schemas.ts';
import { Confirmation, CurrentPassword, Email, FreshCode } from '../users/schemas.ts';

const tags = ['User'];

const Change = Type.Object({
  email: Type.String({ description: 'the new address', examples: ['ana@example.org'] }),
  oldConfirmed: Type.Boolean({ description: 'whether the current address has confirmed it' }),
  newConfirmed: Type.Boolean({ description: 'whether the new address has confirmed it' }),
  expiresAt: DateTime,
});

export const requestEmailChangeSchema = {
  operationId: 'requestEmailChange',
  tags,
  summary: 'Change the e-mail address',
  description:
    'Needs a code if the account has a second factor. Mails a token to the current and to the new address. The change is made when both have been confirmed, within 72 hours. The default address of the first administrator, admin@fieldtrace.local, has no mailbox and needs no confirmation. At most once in five minutes.',
  body: Type.Object({ email: Email, currentPassword: CurrentPassword, code: FreshCode }),
  response: { 200: Done, ...failureAnswers(401) },
};

export const confirmEmailChangeSchema = {
  operationId: 'confirmEmailChange',
  tags,
  summary: 'Confirm a change of address by a mailed token',
  description:
    'With the password of the account, the new address counts as confirmed by its owner; without it, the address changes and does not count. A wrong password leaves the token valid.',
  body: Confirmation,
  response: {
    200: envelope(
      Type.Object({
        changed: Type.Boolean({ description: 'false: the other address has not been confirmed yet' }),
      }),
      'the result',
    ),
    ...failureAnswers(),
  },
};

export const getEmailChangeSchema = {
  operationId: 'getEmailChange',
  tags,
  summary: 'The pending change of address',
  response: {
    200: Type.Object(
      { status: Type.Literal('OK'), data: Type.Optional(Change) },
      { description: 'the change; without data if there is none' },
    ),
    ...failureAnswers(401),
  },
};

export const cancelEmailChangeSchema = {
  operationId: 'cancelEmailChange',
  tags,
  summary: 'Cancel a change of address',
  response: { 200: Done, ...failureAnswers(401, 404) },
};
