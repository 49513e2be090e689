import { Type } from '../../../platform/type.ts';
import { envelope, failureAnswers } from '../../base/contract/envelope.ts';
import {
  AFTER,
  DateTime,
  Id,
  listOf,
  listQuery,
  NO_NUL,
  PathId,
  QueryIds,
} from '../../base/contract/schemas.ts';
import { Language, MailLanguage, personName, Role, Status, User, UserItem } from '../users/schemas.ts';
import { SORTABLE } from '../users/store.ts';

const part = (description: string) =>
  Type.Optional(Type.String({ maxLength: 255, pattern: NO_NUL, description }));

/** The actions of administrators on users. */
export const ACTIONS = [
  'ACTIVATE_USER',
  'DEACTIVATE_USER',
  'CONFIRM_USER_EMAIL',
  'SET_USER_REGIONAL_ADMIN',
  'UNSET_USER_REGIONAL_ADMIN',
  'SET_USER_SYSTEM_ADMIN',
  'UNSET_USER_SYSTEM_ADMIN',
  'REMOVE_USER_SECOND_FACTOR',
] as const;
export type Action = (typeof ACTIONS)[number];

export const executeUserSchema = {
  operationId: 'executeUserAction',
  tags: ['Administration'],
  summary: 'Activate, deactivate or promote a user',
  description:
    "Only a SYSTEM_ADMIN can act on a SYSTEM_ADMIN or promote users to administrators. Users can't act on " +
    "themselves. The last active SYSTEM_ADMIN can't be demoted or deactivated.",
  params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'the action' }) }),
  body: Type.Object({ id: Id }),
  response: { 200: envelope(User, 'the updated user'), ...failureAnswers(401, 403, 404) },
};

export const confirmationLinkSchema = {
  operationId: 'createConfirmationLink',
  tags: ['Administration'],
  summary: 'Create a confirmation link where no emails are sent',
  description:
    "Give the link to the user yourself. It works once, for 72 hours, together with the account's password, like " +
    "an emailed link. If emails are sent, use POST /api/user/resend_confirmation. You can't create a link for " +
    'yourself. Only a SYSTEM_ADMIN can create one for a SYSTEM_ADMIN.',
  body: Type.Object({ id: Id }),
  response: {
    200: envelope(
      Type.Object({
        url: Type.String({
          description: 'address of the page, ending with the token',
          examples: [
            'https://trace.example/api/user/confirm_email/kZJ3m0T9xXo2Jr8qVbq1cWl5yN7uE4sA6dF0gH2jK1M',
          ],
        }),
        expiresAt: DateTime,
      }),
      'the link',
    ),
    ...failureAnswers(401, 403, 404),
  },
};

export const listUsersSchema = (operationId: string, access: 'user' | 'regional-admin', summary: string) => ({
  operationId,
  tags: [access === 'user' ? 'User' : 'Administration'],
  summary,
  querystring: listQuery(SORTABLE, {
    ...AFTER,
    query: part('part of the address or of the names; case is ignored'),
    email: part('part of the address; case is ignored'),
    surname: part('part of the family name; case is ignored'),
    status: Type.Optional(Status),
    role: Type.Optional(Role),
    ids: Type.Optional(QueryIds),
  }),
  response: {
    200: envelope(listOf(UserItem), 'a page of users'),
    ...(access === 'user' ? failureAnswers(401) : failureAnswers(401, 403)),
  },
});

export const getUserSchema = {
  operationId: 'getUser',
  tags: ['Administration'],
  summary: 'Get a user',
  params: Type.Object({ id: PathId }),
  response: {
    200: envelope(
      Type.Object({
        ...User.properties,
        hasSecondFactor: Type.Optional(
          Type.Boolean({ description: 'whether logins need a second factor; for a SYSTEM_ADMIN' }),
        ),
      }),
      'the user',
    ),
    ...failureAnswers(401, 403, 404),
  },
};

export const UserUpdate = Type.Object({
  id: Id,
  name: Type.Optional(personName('given name', 'Ana')),
  surname: Type.Optional(personName('family name', 'Uwase')),
  language: Type.Optional(Language),
  mailLanguage: Type.Optional(MailLanguage),
});

export const updateUserSchema = {
  operationId: 'updateUserProfile',
  tags: ['Administration'],
  summary: 'Change the profile of a user',
  description: 'Omitted fields stay unchanged. Only a SYSTEM_ADMIN can change a SYSTEM_ADMIN.',
  body: UserUpdate,
  response: { 200: envelope(User, 'the updated user'), ...failureAnswers(401, 403, 404) },
};
