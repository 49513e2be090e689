import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { hourly } from '../../../platform/jobs/hourly.ts';
import type { Mail } from '../../../platform/mail/mail.ts';
import { attempt, DEAD_QUEUE, type Ended, type Outbox } from '../../../platform/mail/outbox.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { newSecret } from '../../../platform/tokens/secret.ts';
import { audit } from '../../base/audit/audit.ts';
import type { MailLanguage } from '../../base/contract/language.ts';
import { emailKeyOf } from '../users/email.ts';
import { findAccount, findUser, lockAccount, type User } from '../users/store.ts';
import { deleteFailedMail, failedMails, mailOf, noteFailedMail } from './failed-store.ts';
import type { AddressJob, AskedJob, Asker, MailJob, UserJob, WithoutId } from './mail-jobs.ts';
import { insertMailToken, insertResetToken, type MailToken, noteMailRequest, type Purpose } from './store.ts';
import { type Inviting, type MailAddresses, mailTexts, pagesOf } from './texts.ts';

/** PostgreSQL's schema of the job queue. */
export const JOBS_SCHEMA = 'trace_backend_jobs';
export const QUEUES = [DEAD_QUEUE, 'mail'] as const;

/** Lifetime of the secret of a mailed link, in hours. */
const TOKEN_HOURS: Record<Purpose, number> = {
  CONFIRM_EMAIL: 72,
  RESET_PASSWORD: 1,
  CHANGE_EMAIL_OLD: 72,
  CHANGE_EMAIL_NEW: 72,
};
/** Minimum time between two mails of a kind that anyone can request for a user, in milliseconds. */
const MAIL_PAUSE_MS = 5 * 60_000;
/** Concurrent sendings in this process. */
const CONCURRENCY = 5;
/** Days for which mails that were given up are kept. */
export const FAILED_DAYS = 90;
/** Maximum removals per hour. */
const MOST_EXPIRED = 10_000;
/** PostgreSQL's SQLSTATE when a referenced row does not exist. */
const FOREIGN_KEY_VIOLATION = '23503';

export type Mails = ReturnType<typeof openMails>;
type Send = (database: Database, mails: readonly WithoutId<MailJob>[]) => Promise<void>;

/** Mails that are sent at least once after the transaction that causes them has committed. */
export function openMails(
  given: Omit<Mailing, 'frontEndUrl'>,
  settings: Pick<Settings, 'TRACE_FRONTEND_URL' | 'SMTP_URL'>,
) {
  const mailing = { ...given, frontEndUrl: settings.TRACE_FRONTEND_URL?.replace(/\/+$/, '') };
  const { pool, outbox } = mailing;
  const send: Send = (database, mails) =>
    outbox.send(
      database,
      mails.map(mail => ({ ...mail, id: crypto.randomUUID() })),
    );
  const mail = async (job: MailJob, signal: AbortSignal) => {
    if (job.kind !== 'asked') return deliver(mailing, job, signal);
    await answer(mailing, job, send);
    outbox.wake();
  };
  outbox.work(CONCURRENCY, { mail }, (job, ended) => giveUp(mailing, job, ended));
  return {
    send,
    /**
     * Sends the mail of an invitation of an address. The address is looked up by the job, so that neither the answer nor
     * its timing shows whether it is registered.
     */
    invite: (database: Database, invitation: Pick<AddressJob, 'invitationId' | 'emailKey'>) =>
      send(database, [{ kind: 'invited-address', ...invitation }]),
    /**
     * Queues a mail with a token to an address, if it belongs to a user who can use it, who is looked up by the job.
     *
     * @param asker written into the audit if there is such a user
     */
    async ask(purpose: Purpose, emailKey: string, asker?: Asker): Promise<void> {
      await send(pool, [{ kind: 'asked', purpose, emailKey, ...(asker && { asker }) }]);
      outbox.wake();
    },
    /** Whether there is a mail server. */
    areSent: settings.SMTP_URL !== undefined,
    /** A link by which a user confirms their address without a mail; its token has to be stored. */
    newConfirmation(user: User): { url: string; token: MailToken } {
      const { secret, ...token } = newToken(user, 'CONFIRM_EMAIL');
      return { url: `${pagesOf(addressesOf(mailing)).confirmOwn}/${secret}`, token };
    },
    /** Starts sending committed mails at once. */
    wake: outbox.wake,
  };
}

/** The content of an invitation mail. */
export interface InvitationMail extends Inviting {
  /** the code by which the invitation can be answered */
  secret: string;
}

/** The content of the mail of an invitation of an address. */
export interface AddressInvitationMail extends Inviting {
  /** the invited address, as it was typed */
  email: string;
  /** of the mail to somebody who has no account */
  language: MailLanguage;
  /** the code by which the invitation can be answered, once an active account has the address */
  secret: string;
}

/** The content of a confirmation mail of a change of address. */
export interface ChangeMail {
  changeId: string;
  /** the new address */
  email: string;
  emailKey: string;
  /** when the current address confirmed it, or needed no more */
  oldConfirmedAt: Date | null;
  expiresAt: Date;
}

/** The dependencies of sending mails. */
export interface Mailing {
  pool: pg.Pool;
  outbox: Outbox<MailJob>;
  /** base URL of links, without a trailing slash */
  publicUrl: () => string;
  /** the same of the console, if links lead to it */
  consoleUrl: () => string | undefined;
  /** the same of another web front end, if there is one */
  frontEndUrl: string | undefined;
  /** the name of the instance, if it has one */
  instanceName: () => Promise<string | undefined>;
  /** The pending change of address, locked until the end of the transaction; undefined if there is none. */
  emailChange: (database: Database, userId: number, now: Date) => Promise<ChangeMail | undefined>;
  /** undefined if there is nothing to answer anymore */
  invitation: (userId: number, companyId: number) => Promise<InvitationMail | undefined>;
  /** Like `invitation`, for the invitation of an address. */
  addressInvitation: (id: number) => Promise<AddressInvitationMail | undefined>;
  logger: FastifyBaseLogger;
  /** called for each mail that is given up */
  onGivenUp: () => void;
}

/** The functions for other features. */
export type MailContents = Pick<Mailing, 'invitation' | 'addressInvitation' | 'emailChange' | 'instanceName'>;

/** Sends a requested mail, if the address belongs to a user who can use it and has not just been sent one. */
async function answer({ pool }: Mailing, { purpose, emailKey, asker }: AskedJob, send: Send): Promise<void> {
  const account = await findAccount(pool, emailKey);
  const useful = purpose === 'CONFIRM_EMAIL' ? account?.emailConfirmed === false : true;
  if (!account || account.status === 'DEACTIVATED' || !useful) return;
  await transaction(pool, async database => {
    const now = new Date();
    const since = new Date(now.getTime() - MAIL_PAUSE_MS);
    if (!(await noteMailRequest(database, { userId: account.id, purpose }, now, since))) return;
    const kind = purpose === 'CONFIRM_EMAIL' ? 'confirm' : 'reset';
    await send(database, [{ kind, to: account.id }]);
    if (!asker) return;
    const { ip, userId = null } = asker;
    const asked = { action: 'REQUEST_PASSWORD', entity: 'user', entityId: account.id, userId } as const;
    await audit(database, { ip }, asked);
  });
}

async function deliver(mailing: Mailing, job: UserJob | AddressJob, signal: AbortSignal): Promise<void> {
  const { pool, outbox } = mailing;
  const mail = await (job.kind === 'invited-address' ? writeToAddress(mailing, job) : write(mailing, job));
  if (mail) {
    const send = () => outbox.mailer.send(mail, signal);
    await attempt(pool, failedMails, mailOf(job), send, () => deleteFailedMail(pool, mailOf(job)));
  } else {
    await failedMails.settle(pool, mailOf(job), 'obsolete', new Date());
  }
}

async function textsOf(mailing: Mailing): Promise<ReturnType<typeof mailTexts>> {
  return mailTexts(addressesOf(mailing), await mailing.instanceName());
}

function addressesOf({ publicUrl, frontEndUrl, consoleUrl }: Mailing): MailAddresses {
  return { publicUrl: publicUrl(), frontEndUrl, consoleUrl: consoleUrl() };
}

/** @returns undefined if the mail is not needed anymore */
async function write(mailing: Mailing, job: UserJob): Promise<Mail | undefined> {
  const { pool, invitation } = mailing;
  const user = await findUser(pool, job.to);
  if (!user || user.erased) return undefined;
  const texts = await textsOf(mailing);
  const mail = { id: job.id, to: user.email };
  switch (job.kind) {
    case 'confirm': {
      if (user.emailConfirmed || user.status === 'DEACTIVATED') return undefined;
      const { secret, ...token } = newToken(user, 'CONFIRM_EMAIL');
      await insertMailToken(pool, token, new Date());
      return { ...mail, ...texts.confirm(user, secret) };
    }
    case 'reset': {
      const { secret, ...token } = newToken(user, 'RESET_PASSWORD');
      const isWanted = await insertResetToken(pool, token, new Date());
      return isWanted ? { ...mail, ...texts.reset(user, secret) } : undefined;
    }
    case 'change-email':
      return writeChange(mailing, job, user);
    case 'password-changed':
    case 'second-factor-on':
    case 'second-factor-off':
      return { ...mail, ...texts.told(user, job.kind) };
    case 'activated':
      return user.status === 'ACTIVE' ? { ...mail, ...texts.activated(user) } : undefined;
    case 'invited': {
      const invited = user.status === 'ACTIVE' ? await invitation(user.id, job.about) : undefined;
      return (
        invited && { ...mail, ...texts.invited(user, invited, { isAddress: false }), names: idOf(invited) }
      );
    }
    case 'notice': {
      const about = await findUser(pool, job.about);
      if (about?.status !== 'CONFIRMED_EMAIL') return undefined;
      return { ...mail, ...texts.notice(user, about), names: String(about.id) };
    }
  }
}

/** The mail of an invitation of an address: with a code, and with what to do to get an active account. */
async function writeToAddress(
  mailing: Mailing,
  { id, invitationId, emailKey }: AddressJob,
): Promise<Mail | undefined> {
  const { pool, addressInvitation } = mailing;
  const found = await findAccount(pool, emailKey);
  const account = found?.erased ? undefined : found;
  const invitation = await addressInvitation(invitationId);
  if (!invitation) return undefined;
  const { email, language, ...inviting } = invitation;
  const texts = await textsOf(mailing);
  const text =
    account?.status === 'ACTIVE'
      ? texts.invited(account, inviting, { isAddress: true })
      : texts.invitedAddress(account?.language ?? language, { ...inviting, email, hasAccount: !!account });
  return { id, to: account?.status === 'ACTIVE' ? account.email : email, ...text, names: idOf(inviting) };
}

/** Whom the mail of an invitation names. */
const idOf = ({ inviter }: Pick<Inviting, 'inviter'>) => (inviter ? String(inviter.id) : undefined);

/**
 * A mail by which one of the two addresses confirms a change; none if the change was cancelled, or the new address is
 * another user's.
 */
async function writeChange(
  mailing: Mailing,
  { id, changeId, side }: Extract<UserJob, { kind: 'change-email' }>,
  user: User,
): Promise<Mail | undefined> {
  const { pool, emailChange } = mailing;
  const texts = await textsOf(mailing);
  return transaction(pool, async database => {
    const now = new Date();
    const change = await emailChange(database, user.id, now);
    if (change?.changeId !== changeId) return undefined;
    const holder = await findAccount(database, change.emailKey);
    if (side === 'new' && holder && holder.id !== user.id) return undefined;
    const { secret, ...token } = newToken(user, side === 'old' ? 'CHANGE_EMAIL_OLD' : 'CHANGE_EMAIL_NEW');
    await insertMailToken(database, { ...token, expiresAt: change.expiresAt }, now);
    const to = side === 'old' ? user.email : change.email;
    const isAlone = side === 'new' && change.oldConfirmedAt !== null;
    return { id, to, ...texts.changeEmail(user, { side, address: change.email, isAlone }, secret) };
  });
}

/**
 * A secret for one attempt to send a mail. It is created only now, so that it is nowhere but in the mail: not in the
 * database, a job or a backup. Each attempt has its own, because an earlier one may have arrived.
 */
function newToken({ id: userId, email }: User, purpose: Purpose): MailToken & { secret: string } {
  const { secret, hash } = newSecret();
  const expiresAt = new Date(Date.now() + TOKEN_HOURS[purpose] * 3600_000);
  const emailKey = purpose === 'CONFIRM_EMAIL' || purpose === 'RESET_PASSWORD' ? emailKeyOf(email) : null;
  return { secret, hash, userId, emailKey, purpose, expiresAt };
}

/** Logs and records a mail that used up its attempts or was permanently refused. */
async function giveUp({ pool, logger, onGivenUp }: Mailing, job: MailJob, ended: Ended): Promise<void> {
  // A request for a mail fails only while the database cannot be asked; there is nothing to send again.
  if (job.kind !== 'asked' && !(await isRecorded(pool, job, ended))) return;
  onGivenUp();
  logger.error(
    { mail: job.kind, ...('to' in job && { user_id: job.to }) },
    'an email could not be delivered; an administrator can send it again',
  );
}

/** Records a mail that was given up; returns false if nobody is there any more to get it. */
async function isRecorded(
  pool: pg.Pool,
  { id: mailId, ...job }: UserJob | AddressJob,
  ended: Ended = { attempts: 0, error: '' },
): Promise<boolean> {
  const to =
    'to' in job ? { userId: job.to, invitationId: null } : { userId: null, invitationId: job.invitationId };
  try {
    return await transaction(pool, async database => {
      // Locked, so that the row is either erased with the account or not written.
      if (to.userId !== null && (await lockAccount(database, to.userId))?.erased !== false) return false;
      await noteFailedMail(database, { mailId, job, ...to }, ended, new Date());
      return true;
    });
  } catch (error) {
    if ((error as { code?: string }).code === FOREIGN_KEY_VIOLATION) return false;
    throw error;
  }
}

/** Removes mails that were given up long ago every hour; returns a function that stops it. */
export function expireFailedMailsHourly(pool: pg.Pool, logger: FastifyBaseLogger): () => void {
  return hourly('mails that were given up long ago could not be removed', logger, () =>
    failedMails.removeOld(pool, new Date(Date.now() - FAILED_DAYS * 24 * 3600_000), MOST_EXPIRED),
  );
}
