import { Type } from 'typebox';
import { envelope, failureAnswers } from '../../contract/envelope.ts';
import { Id, listOf, listQuery, NO_NUL, PathId } from '../../contract/schemas.ts';
import { Role, Status, User } from '../users/schemas.ts';
import { SORTABLE } from '../users/store.ts';

const PartOfName = Type.String({
  maxLength: 255,
  pattern: NO_NUL,
  description: 'part of the address or of the name; case is ignored',
});

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
    'Only a SYSTEM_ADMIN can act on a SYSTEM_ADMIN or promote users to administrators. Nobody can act on themselves. The last active SYSTEM_ADMIN cannot be demoted or deactivated.',
  params: Type.Object({ action: Type.Enum([...ACTIONS], { description: 'the action' }) }),
  body: Type.Object({ id: Id }),
  response: { 200: envelope(User, 'the updated user'), ...failureAnswers(401, 403, 404) },
};

export const listUsersSchema = {
  operationId: 'listUsers',
  tags: ['Administration'],
  summary: 'Users',
  querystring: listQuery(SORTABLE, {
    query: Type.Optional(PartOfName),
    status: Type.Optional(Status),
    role: Type.Optional(Role),
  }),
  response: { 200: envelope(listOf(User), 'a page of users'), ...failureAnswers(401, 403) },
};

export const getUserSchema = {
  operationId: 'getUser',
  tags: ['Administration'],
  summary: 'A user',
  params: Type.Object({ id: PathId }),
  response: { 200: envelope(User, 'the user'), ...failureAnswers(401, 403, 404) },
};
