import { Type } from '../../../platform/type.ts';
import { errorAnswers } from '../../core/contract/schemas.ts';

/** Maximum users per request for names. */
export const MAX_NAMED = 100;
/** Characters of their ids together, at most. */
const MAX_IDS_TEXT = 2000;

export const listNamesSchema = {
  operationId: 'listNames',
  tags: ['Directory'],
  summary: 'Names of users whom the caller may know',
  description:
    'In no order. Known are the user of the token, members of the same companies, and those who have shared something ' +
    'with the user, opened a thread that the user takes part in, or written among its last 100 messages; of threads, ' +
    'the newest 100 are looked at. Administrators know everyone. All others are left out: without a token, and where the user registry is not in the same process, everyone.',
  querystring: Type.Object({
    user_ids: Type.String({
      minLength: 1,
      maxLength: MAX_IDS_TEXT,
      pattern: `^[^,]+(,[^,]+){0,${MAX_NAMED - 1}}$`,
      description: `ids of users, separated by commas, ${MAX_NAMED} at most`,
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
