import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { AFTER, DateTime, Id, PathId } from '../../base/contract/schemas.ts';
import { MAIL_KINDS } from '../mails/mail-jobs.ts';
import { FAILED_DAYS } from '../mails/mails.ts';

const tags = ['Administration'];

/** Maximum mails that are sent again per call. */
export const MAX_REPLAYED = 1_000;

/** How the list names what has become of a mail. */
export const LISTED = { dead: 'FAILED', queued: 'QUEUED', obsolete: 'OBSOLETE' } as const;

const FailedMail = Type.Object({
  id: Type.Integer({ examples: [7] }),
  kind: Type.Enum([...MAIL_KINDS], { description: 'purpose of the email' }),
  recipient: Type.Optional(
    Type.String({
      description: 'current address of the recipient; absent if there is none',
      examples: ['ana@example.org'],
    }),
  ),
  userId: Type.Optional(Type.Integer({ description: 'the user; absent if an address was invited' })),
  status: Type.Enum(Object.values(LISTED), {
    description:
      'FAILED: not sent; QUEUED: being sent again; OBSOLETE: no longer needed, because the address is confirmed, ' +
      'the invitation answered, the account inactive, or the change or request over',
  }),
  attempts: Type.Integer({ description: 'total number' }),
  lastError: Type.String({ description: 'why the last attempt failed, without addresses' }),
  failedAt: { ...DateTime, description: 'last attempt; ISO 8601, UTC' },
  replayedAt: Type.Optional({ ...DateTime, description: 'when an administrator last resent it' }),
});

export const listFailedMailsSchema = {
  operationId: 'listFailedMails',
  tags,
  summary: 'List failed emails about accounts, newest first',
  description:
    `Contents are left out. They are kept for ${FAILED_DAYS} days, or until the account is erased or the ` +
    'invitation is gone.',
  querystring: Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        default: 100,
        description: 'maximum number of items; values above 1000 mean 1000',
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
  summary: 'Resend failed emails',
  description:
    `Resends one failed email or all, at most ${MAX_REPLAYED.toLocaleString('en')} in a call, oldest first. Each ` +
    'is rewritten with a new link. Emails that are sent leave the list; emails that are no longer needed become ' +
    'OBSOLETE.',
  body: Type.Object({ id: Type.Optional(Id) }),
  response: {
    200: envelope(
      Type.Object({ replayed: Type.Integer({ description: 'number of emails that will be resent' }) }),
      'the number',
    ),
    ...failureAnswers(401, 403, 404),
  },
};

export const dismissFailedMailSchema = {
  operationId: 'dismissFailedMail',
  tags,
  summary: 'Remove a failed email from the list',
  description: 'An email that is already being resent is still sent.',
  params: Type.Object({ id: PathId }),
  response: { 200: Done, ...failureAnswers(401, 403, 404) },
};
