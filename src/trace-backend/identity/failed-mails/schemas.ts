import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { AFTER, DateTime, Id, PathId } from '../../base/contract/schemas.ts';
import { MAIL_KINDS } from '../mails/mail-jobs.ts';
import { FAILED_DAYS } from '../mails/mails.ts';

const tags = ['Administration'];

/** Mails that are sent again in one call, at most. */
export const MAX_REPLAYED = 1_000;

/** How the list names what has become of a mail. */
export const LISTED = { dead: 'FAILED', queued: 'QUEUED', obsolete: 'OBSOLETE' } as const;

const FailedMail = Type.Object({
  id: Type.Integer({ examples: [7] }),
  kind: Type.Enum([...MAIL_KINDS], { description: 'what the mail is for' }),
  recipient: Type.Optional(
    Type.String({
      description: 'the address that it would go to now; absent if there is none any more',
      examples: ['ana@example.org'],
    }),
  ),
  userId: Type.Optional(Type.Integer({ description: 'the user; absent for the invitation of an address' })),
  status: Type.Enum(Object.values(LISTED), {
    description:
      'FAILED: given up; QUEUED: being sent again; OBSOLETE: not sent again, because there was no reason for it any ' +
      'more: the address is confirmed, the invitation answered, the account not active, or the change or request over',
  }),
  attempts: Type.Integer({ description: 'in all' }),
  lastError: Type.String({ description: 'why the last attempt failed, without addresses' }),
  failedAt: { ...DateTime, description: 'when it was last tried; ISO 8601, UTC' },
  replayedAt: Type.Optional({ ...DateTime, description: 'when an administrator last had it sent again' }),
});

export const listFailedMailsSchema = {
  operationId: 'listFailedMails',
  tags,
  summary: 'Mails about accounts that were given up, newest first',
  description: `Without their contents. They are kept for ${FAILED_DAYS} days, or until the account is erased or the invitation is gone.`,
  querystring: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: 100,
        description: 'items, at most; above 1000 it means 1000',
      }),
    ),
    ...AFTER,
  }),
  response: {
    200: envelope(Type.Object({ items: Type.Array(FailedMail) }), 'a page'),
    ...failureAnswers(401, 403),
  },
};

export const replayFailedMailsSchema = {
  operationId: 'replayFailedMails',
  tags,
  summary: 'Send mails again that were given up',
  description:
    `One, or all of them, at most ${MAX_REPLAYED.toLocaleString('en')} in a call, oldest first. Each is written again, ` +
    'with a new link that is valid from then on. One that was sent is not listed any more; one that there is no ' +
    'reason for any more becomes OBSOLETE.',
  body: Type.Object({ id: Type.Optional(Id) }),
  response: {
    200: envelope(
      Type.Object({ replayed: Type.Integer({ description: 'mails that will be sent again' }) }),
      'how many',
    ),
    ...failureAnswers(401, 403, 404),
  },
};

export const dismissFailedMailSchema = {
  operationId: 'dismissFailedMail',
  tags,
  summary: 'Remove a mail that was given up from the list',
  description: 'One that is being sent again is sent nevertheless.',
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};
