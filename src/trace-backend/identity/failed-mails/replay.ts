import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Outbox } from '../../../platform/mail/outbox.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import {
  deleteFailedMail,
  type FailedMail,
  lockFailedMail,
  numbered,
  takeFailedMails,
} from '../mails/failed-store.ts';
import type { FailedJob, MailJob } from '../mails/mail-jobs.ts';
import { MAX_REPLAYED } from './schemas.ts';

/**
 * Has mails sent again that were given up: one, or all.
 *
 * @returns how many
 * @throws Problem not_found, invalid
 */
export function replay(
  outbox: Outbox<MailJob>,
  requester: Requester,
  id: number | undefined,
): Promise<number> {
  return outbox.replay(async (database, limit) => {
    if (id !== undefined) await checkFailed(database, id);
    const taken = await takeFailedMails<FailedJob>(database, id, new Date(), limit);
    await outbox.send(
      database,
      taken.map(({ job, mailId }) => ({ ...job, id: mailId })),
    );
    // An entry of each, so that those that concern a user are found.
    for (const mail of taken) await note(database, requester, 'REPLAY_MAILS', mail);
    return taken.length;
  }, MAX_REPLAYED);
}

/**
 * Removes a mail from those that were given up.
 *
 * @throws Problem not_found
 */
export async function dismiss(pool: pg.Pool, requester: Requester, id: number): Promise<void> {
  await transaction(pool, async database => {
    const mail = await lockKnown(database, id);
    await deleteFailedMail(database, numbered(id));
    await note(database, requester, 'DISMISS_MAIL', mail);
  });
}

async function checkFailed(database: Database, id: number): Promise<void> {
  const mail = await lockKnown(database, id);
  if (mail.status === 'queued') throw new Problem('mail.being_sent_again');
  if (mail.status === 'obsolete') throw new Problem('mail.obsolete');
}

async function lockKnown(database: Database, id: number): Promise<FailedMail<FailedJob>> {
  const mail = await lockFailedMail<FailedJob>(database, id);
  if (!mail) throw new Problem('mail.unknown');
  return mail;
}

async function note(
  database: Database,
  requester: Requester,
  action: 'REPLAY_MAILS' | 'DISMISS_MAIL',
  { id, job, userId, invitationId }: FailedMail<FailedJob>,
): Promise<void> {
  const about = userId === null ? { invitation: invitationId } : { userId };
  const details = { kind: job.kind, ...about };
  await audit(database, requester, { action, entity: 'mail', entityId: id, details });
}
