import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Requester } from '../../base/access/requester.ts';
import { audit } from '../../base/audit/audit.ts';
import { deleteFailedMail, type FailedMail, lockFailedMail, takeFailedMails } from '../mails/failed-store.ts';
import type { FailedJob } from '../mails/mail-jobs.ts';
import type { Mails } from '../mails/mails.ts';
import { MAX_REPLAYED } from './schemas.ts';

/**
 * Has mails sent again that were given up: one, or all.
 *
 * @returns how many
 * @throws Problem not_found, invalid
 */
export async function replay(
  pool: pg.Pool,
  mails: Mails,
  requester: Requester,
  id: number | undefined,
): Promise<number> {
  const replayed = await transaction(pool, async database => {
    if (id !== undefined) await checkFailed(database, id);
    const taken = await takeFailedMails<FailedJob>(database, id, new Date(), MAX_REPLAYED);
    await mails.sendAgain(
      database,
      taken.map(({ job, mailId }) => ({ ...job, id: mailId })),
    );
    // An entry of each, so that those that concern a user are found.
    for (const mail of taken) {
      const details = aboutOf(mail);
      await audit(database, requester, {
        action: 'REPLAY_MAILS',
        entity: 'mail',
        entityId: mail.id,
        details,
      });
    }
    return taken.length;
  });
  mails.wake();
  return replayed;
}

/**
 * Removes a mail from those that were given up.
 *
 * @throws Problem not_found
 */
export async function dismiss(pool: pg.Pool, requester: Requester, id: number): Promise<void> {
  await transaction(pool, async database => {
    const details = aboutOf(await lockKnown(database, id));
    await deleteFailedMail(database, id);
    await audit(database, requester, { action: 'DISMISS_MAIL', entity: 'mail', entityId: id, details });
  });
}

async function checkFailed(database: Database, id: number): Promise<void> {
  const mail = await lockKnown(database, id);
  if (mail.status === 'QUEUED') throw new Problem('mail.being_sent_again');
  if (mail.status === 'OBSOLETE') throw new Problem('mail.obsolete');
}

async function lockKnown(database: Database, id: number): Promise<FailedMail<FailedJob>> {
  const mail = await lockFailedMail<FailedJob>(database, id);
  if (!mail) throw new Problem('mail.unknown');
  return mail;
}

/** What the audit says of a mail. */
const aboutOf = ({ job, userId, invitationId }: FailedMail<FailedJob>) => ({
  kind: job.kind,
  ...(userId !== null && { userId }),
  ...(invitationId !== null && { invitation: invitationId }),
});
