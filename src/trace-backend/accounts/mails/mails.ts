import type { FastifyBaseLogger } from 'fastify';
import type { Attempt } from '../../../platform/jobs/job-worker.ts';
import type { JobRules, Jobs } from '../../../platform/jobs/jobs.ts';
import { type Mail, type Mailer, MailRefused } from '../../../platform/mail/mail.ts';
import type { Database } from '../../../platform/postgres/database.ts';
import type { Settings } from '../../../platform/settings.ts';
import { newSecret } from '../../../platform/tokens/secret.ts';
import { findUser, type User } from '../users/store.ts';
import { insertMailToken, type Purpose } from './store.ts';
import { mailTexts } from './texts.ts';

/** What was given up, for the log and for whoever looks into the queue. */
const DEAD_QUEUE = 'dead';
export const QUEUES = [DEAD_QUEUE, 'mail'] as const;

/** How long the secret of a mailed link is good for, in hours. */
const TOKEN_HOURS = 72;
/** Mails under way at once in this process. */
const CONCURRENCY = 5;
/** Longest wait between two tries, and longest attempt, in seconds. */
const MAX_RETRY_SECONDS = 2 * 3600;
const ATTEMPT_SECONDS = 20;

/** A mail to a user; `about` is the user whom a notice is about. */
export type MailJob = { id: string; to: number } & (
  | { kind: 'confirm' | 'activated' | 'reset' }
  | { kind: 'notice'; about: number }
);

/** Mails that are sent once the transaction which causes them has committed, at least once each. */
export interface Mails {
  send(database: Database, mails: readonly Omit<MailJob, 'id'>[]): Promise<void>;
  /** Has mails begin now that were committed just before. */
  wake(): void;
}

/** Sends mails by the job queue, with the tries that settings give every delivery. */
export function openMails(
  jobs: Jobs,
  mailing: Mailing,
  settings: Pick<Settings, 'NOTIFICATION_TRIES' | 'NOTIFICATION_RETRY_SECONDS'>,
): Mails {
  const rules: JobRules = {
    tries: settings.NOTIFICATION_TRIES,
    retrySeconds: settings.NOTIFICATION_RETRY_SECONDS,
    maxRetrySeconds: MAX_RETRY_SECONDS,
    attemptSeconds: ATTEMPT_SECONDS,
    deadLetter: DEAD_QUEUE,
  };
  jobs.work<MailJob>('mail', CONCURRENCY, attempt => deliver(mailing, attempt));
  jobs.work<MailJob>(DEAD_QUEUE, CONCURRENCY, async ({ data }) => bury(mailing, data));
  return {
    async send(database, mails) {
      const data = mails.map(mail => ({ ...mail, id: crypto.randomUUID() }));
      await jobs.send(database, 'mail', rules, data);
    },
    wake: jobs.wake,
  };
}

/** What sending needs. */
export interface Mailing {
  pool: Database;
  mailer: Mailer;
  /** what links begin with, without a slash at its end */
  publicUrl: () => string;
  logger: FastifyBaseLogger;
}

async function deliver(mailing: Mailing, { data: job, signal }: Attempt<MailJob>): Promise<void> {
  const mail = await write(mailing, job);
  if (!mail) return;
  try {
    await mailing.mailer.send(mail, signal);
  } catch (error) {
    if (!(error instanceof MailRefused)) throw error;
    bury(mailing, job);
  }
}

/** @returns undefined when its reason is gone */
async function write({ pool, publicUrl }: Mailing, job: MailJob): Promise<Mail | undefined> {
  const user = await findUser(pool, job.to);
  if (!user) return undefined;
  const texts = mailTexts(publicUrl());
  const mail = { id: job.id, to: user.email };
  switch (job.kind) {
    case 'confirm':
      if (user.status !== 'UNCONFIRMED') return undefined;
      return { ...mail, ...texts.confirm(user, await newToken(pool, user, 'CONFIRM_EMAIL')) };
    case 'reset':
      return { ...mail, ...texts.reset(user, await newToken(pool, user, 'RESET_PASSWORD')) };
    case 'activated':
      return { ...mail, ...texts.activated(user) };
    case 'notice': {
      const about = await findUser(pool, job.about);
      return about?.status === 'CONFIRMED_EMAIL' ? { ...mail, ...texts.notice(user, about) } : undefined;
    }
  }
}

/**
 * A secret for one sending. It is made only now, so that it stands nowhere but in what is sent: not in the database,
 * not in a job, not in a backup. Each sending has its own, because an earlier one may have arrived.
 */
async function newToken(pool: Database, { id }: User, purpose: Purpose): Promise<string> {
  const now = new Date();
  const { secret, hash } = newSecret();
  const expiresAt = new Date(now.getTime() + TOKEN_HOURS * 3600_000);
  await insertMailToken(pool, { hash, userId: id, purpose, expiresAt }, now);
  return secret;
}

/** A mail that used up its tries or was refused for good; the user can ask for another. */
function bury({ logger }: Mailing, { kind, to }: MailJob): void {
  logger.error({ mail: kind, user_id: to }, 'a mail could not be delivered; the user can ask for another');
}
