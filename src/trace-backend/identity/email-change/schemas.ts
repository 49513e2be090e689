import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { DateTime } from '../../base/contract/schemas.ts';
import { Confirmation, CurrentPassword, Email, FreshCode } from '../users/schemas.ts';

const tags = ['User'];

const Change = Type.Object({
  email: Type.String({ description: 'the new address', examples: ['ana@example.org'] }),
  oldConfirmed: Type.Boolean({ description: 'whether the current address is confirmed' }),
  newConfirmed: Type.Boolean({ description: 'whether the new address is confirmed' }),
  expiresAt: DateTime,
});

export const requestEmailChangeSchema = {
  operationId: 'requestEmailChange',
  tags,
  summary: 'Change the email address',
  description:
    'Needs a code if the account has a second factor. Emails a token to the current and to the new address. The ' +
    "address changes once both are confirmed, within 72 hours. The first administrator's default address, " +
    'admin@fieldtrace.local, has no mailbox and needs no confirmation. At most once in five minutes.',
  body: Type.Object({ email: Email, currentPassword: CurrentPassword, code: FreshCode }),
  response: { 200: Done, ...failureAnswers(401) },
};

export const confirmEmailChangeSchema = {
  operationId: 'confirmEmailChange',
  tags,
  summary: 'Confirm a change of address with a mailed token',
  description:
    "With the account's password, the new address counts as confirmed by its owner. Without it, the address " +
    "changes, but doesn't count as confirmed. A wrong password doesn't use up the token.",
  body: Confirmation,
  response: {
    200: envelope(
      Type.Object({
        changed: Type.Boolean({ description: "false: the other address isn't confirmed yet" }),
      }),
      'the result',
    ),
    ...failureAnswers(),
  },
};

export const getEmailChangeSchema = {
  operationId: 'getEmailChange',
  tags,
  summary: 'Get the pending change of address',
  response: {
    200: Type.Object(
      { status: Type.Literal('OK'), data: Type.Optional(Change) },
      { description: 'the change; without data if none is pending' },
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
