import { Type } from 'typebox';
import { Done, envelope, failureAnswers } from '../../contract/envelope.ts';
import { DateTime } from '../../contract/schemas.ts';
import { Confirmation, CurrentPassword, Email } from '../users/schemas.ts';

const tags = ['User'];

const Change = Type.Object({
  email: Type.String({ description: 'the new address', examples: ['ana@example.org'] }),
  oldConfirmed: Type.Boolean({ description: 'whether the present address has confirmed it' }),
  newConfirmed: Type.Boolean({ description: 'whether the new address has confirmed it' }),
  expiresAt: DateTime,
});

export const requestEmailChangeSchema = {
  tags,
  summary: 'Change the e-mail address',
  description:
    'Mails a token to the present and to the new address. The change is made when both are confirmed, within 72 hours. Once in five minutes.',
  body: Type.Object({ email: Email, currentPassword: CurrentPassword }),
  response: { 200: Done, ...failureAnswers(401) },
};

export const confirmEmailChangeSchema = {
  tags,
  summary: 'Confirm a change of address by a mailed token',
  body: Confirmation,
  response: {
    200: envelope(
      Type.Object({
        changed: Type.Boolean({ description: 'false: the other address is still asked' }),
      }),
      'what became of it',
    ),
    ...failureAnswers(),
  },
};

export const getEmailChangeSchema = {
  tags,
  summary: 'The change of address that waits to be confirmed',
  response: { 200: envelope(Change, 'the change'), ...failureAnswers(401, 404) },
};

export const cancelEmailChangeSchema = {
  tags,
  summary: 'Give up a change of address',
  response: { 200: Done, ...failureAnswers(401, 404) },
};
