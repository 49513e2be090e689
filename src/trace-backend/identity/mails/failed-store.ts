import sql, { empty, type Sql } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import {
  DELIVERY_STATE,
  type DeliveryState,
  deliveryTable,
} from '../../../platform/mail/deliveries-store.ts';

/**
 * Mails that were given up, also those that are being sent again, and those that there was no reason any more to send
 * again. One that was sent after all is removed.
 */
export const failedMails = deliveryTable('failed_mails', 'id');

/** The mail of a job. */
export const mailOf = ({ id }: { id: string }): Sql => sql`mail_id = ${id}`;

/** One of them by its number. */
export const numbered = (id: number): Sql => sql`id = ${id}`;

/** A mail that was given up. */
export interface FailedMail<Job> extends DeliveryState {
  id: number;
  status: 'queued' | 'dead' | 'obsolete';
  lastError: string;
  lastAttemptAt: Date;
  job: Job;
  /** the user it is to; null for the invitation of an address */
  userId: number | null;
  invitationId: number | null;
}

const FAILED = sql`id, job, user_id AS "userId", invitation_id AS "invitationId", ${DELIVERY_STATE}`;

/**
 * Records that a mail was given up, also one that was to be sent again, whose attempts are counted one by one. Recording
 * it twice changes nothing.
 *
 * @throws the database's foreign key violation if the invitation is gone
 */
export async function noteFailedMail(
  database: Database,
  {
    mailId,
    job,
    userId,
    invitationId,
  }: Omit<FailedMail<object>, 'id' | keyof DeliveryState> & { mailId: string },
  { attempts, error }: { attempts: number; error: string },
  now: Date,
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO failed_mails AS stored (mail_id, job, user_id, invitation_id, status, attempts, last_error, last_attempt_at)
    VALUES (${mailId}, ${JSON.stringify(job)}::jsonb, ${userId}, ${invitationId}, 'dead', ${attempts}, ${error}, ${now})
    ON CONFLICT (mail_id) DO UPDATE SET status = 'dead', last_error = excluded.last_error WHERE stored.status = 'queued'`,
  );
}

/** Mails that were given up, newest first, after one of them. */
export async function listFailedMails<Job>(
  database: Database,
  { after, limit }: { after?: number | undefined; limit: number },
): Promise<FailedMail<Job>[]> {
  const { rows } = await database.query<FailedMail<Job>>(sql`
    SELECT ${FAILED} FROM failed_mails ${after === undefined ? empty : sql`WHERE id < ${after}`}
    ORDER BY id DESC LIMIT ${limit}`);
  return rows;
}

/** A mail that was given up, locked until the end of the transaction. */
export async function lockFailedMail<Job>(
  database: Database,
  id: number,
): Promise<FailedMail<Job> | undefined> {
  const { rows } = await database.query<FailedMail<Job>>(sql`
    SELECT ${FAILED} FROM failed_mails WHERE ${numbered(id)} FOR UPDATE`);
  return rows[0];
}

/**
 * Takes mails to be sent again: one, or all that are given up, at most `limit`, oldest first. Each gets a new id,
 * because receivers discard mails whose id they know, and an earlier attempt may have arrived.
 *
 * @returns them, with the new ids for their jobs
 */
export function takeFailedMails<Job>(
  database: Database,
  id: number | undefined,
  now: Date,
  limit: number,
): Promise<(FailedMail<Job> & { mailId: string })[]> {
  const which = id === undefined ? undefined : numbered(id);
  const returned = sql`${FAILED}, mail_id AS "mailId"`;
  return failedMails.revive(database, { which, limit, now }, returned, sql`, mail_id = gen_random_uuid()`);
}

/** Removes a mail: it has been sent after all, or was dismissed. */
export async function deleteFailedMail(database: Database, which: Sql): Promise<void> {
  await execute(database, sql`DELETE FROM failed_mails WHERE ${which}`);
}
