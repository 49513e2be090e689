import { Type } from '../../../platform/type.ts';
import { errorAnswers } from '../../core/contract/schemas.ts';

/** Maximum users per request for names. */
export const MAX_NAMED = 100;
/** Maximum characters of their ids together. */
const MAX_IDS_TEXT = 2000;

export const listNamesSchema = {
  operationId: 'listNames',
  tags: ['Directory'],
  summary: 'Get the names of users',
  description:
    "In no particular order. Includes the caller, members of the caller's companies, people who have shared " +
    "something with the caller, and those who opened one of the caller's newest 100 threads or wrote one of its " +
    'last 100 messages. Administrators can see everyone. All other users are left out. Returns no names without ' +
    'a token, or if the user registry runs in another process.',
  querystring: Type.Object({
    user_ids: Type.String({
      minLength: 1,
      maxLength: MAX_IDS_TEXT,
      pattern: `^[^,]+(,[^,]+){0,${MAX_NAMED - 1}}$`,
      description: `user ids separated by commas, at most ${MAX_NAMED}`,
    }),
  }),
  response: {
    200: Type.Object(
      { users: Type.Array(Type.Object({ user_id: Type.String(), name: Type.String() })) },
      { description: 'the names' },
    ),
    ...errorAnswers(400, 500, 503),
  },
};
