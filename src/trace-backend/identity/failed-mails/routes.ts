import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { Outbox } from '../../../platform/mail/outbox.ts';
import { requesterOf } from '../../base/access/requester.ts';
import { ok } from '../../base/contract/envelope.ts';
import { idOf, pageOf, pathIdOf } from '../../base/contract/schemas.ts';
import { findNewAddresses } from '../email-change/store.ts';
import { type FailedMail, listFailedMails } from '../mails/failed-store.ts';
import type { FailedJob, MailJob } from '../mails/mail-jobs.ts';
import { findUsers } from '../users/store.ts';
import { dismiss, replay } from './replay.ts';
import {
  dismissFailedMailSchema,
  LISTED,
  listFailedMailsSchema,
  replayFailedMailsSchema,
} from './schemas.ts';

export interface FailedMailsContext {
  pool: pg.Pool;
  outbox: Outbox<MailJob>;
  /** the addresses of invitations of addresses, by their ids */
  invitedAddresses: (database: Database, ids: readonly number[]) => Promise<Map<number, string>>;
}

/** Mails about accounts that were given up: administrators see them, and have them sent again. */
export function registerFailedMails(app: Server, context: FailedMailsContext): void {
  const { pool, outbox } = context;
  const config = { access: 'system-admin' } as const;
  const path = '/api/administration/failed-mails';

  app.get(path, { config, schema: listFailedMailsSchema }, async ({ query }) => {
    const { limit, after } = pageOf(query, ['id']);
    const found = await listFailedMails<FailedJob>(pool, { limit, after });
    const recipientOf = await recipients(context, found);
    return ok({ items: found.map(mail => asItem(mail, recipientOf(mail))) });
  });

  app.post(`${path}/replay`, { config, schema: replayFailedMailsSchema }, async request => {
    const { id } = request.body;
    const replayed = await replay(outbox, requesterOf(request), id === undefined ? undefined : idOf(id));
    return ok({ replayed });
  });

  app.delete(`${path}/:id`, { config, schema: dismissFailedMailSchema }, async request => {
    await dismiss(pool, requesterOf(request), pathIdOf(request.params.id));
    return { status: 'OK' as const };
  });
}

/** The current addresses of mails. */
async function recipients(
  { pool, invitedAddresses }: FailedMailsContext,
  found: readonly FailedMail<FailedJob>[],
): Promise<(mail: FailedMail<FailedJob>) => string | undefined> {
  const userIds = [...new Set(found.flatMap(({ userId }) => userId ?? []))];
  const invitationIds = found.flatMap(({ invitationId }) => invitationId ?? []);
  const [users, changes, invited] = await Promise.all([
    findUsers(pool, userIds),
    findNewAddresses(pool, userIds, new Date()),
    invitedAddresses(pool, invitationIds),
  ]);
  const emails = new Map(users.flatMap(user => (user ? [[user.id, user.email]] : [])));
  return ({ job, userId, invitationId }) => {
    if (userId === null) return invited.get(invitationId as number);
    const isToNew = job.kind === 'change-email' && job.side === 'new';
    return isToNew ? changes.get(job.changeId) : emails.get(userId);
  };
}

function asItem(
  { id, job, userId, replayedAt, ...mail }: FailedMail<FailedJob>,
  recipient: string | undefined,
) {
  const { attempts, lastError } = mail;
  return {
    ...{ id, kind: job.kind, status: LISTED[mail.status], attempts, lastError },
    failedAt: mail.lastAttemptAt.toISOString(),
    ...(recipient !== undefined && { recipient }),
    ...(userId !== null && { userId }),
    ...(replayedAt && { replayedAt: replayedAt.toISOString() }),
  };
}
