import sql, { empty } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** FAILED: given up; QUEUED: being sent again; OBSOLETE: there was no reason any more to send it. */
export const FAILED_STATUSES = ['FAILED', 'QUEUED', 'OBSOLETE'] as const;

/** A mail that was given up. */
export interface FailedMail<Job> {
  id: number;
  job: Job;
  /** the user it is to; null for the invitation of an address */
  userId: number | null;
  invitationId: number | null;
  status: (typeof FAILED_STATUSES)[number];
  /** attempts in all, also those after it was sent again */
  attempts: number;
  /** when an administrator last had it sent again */
  replayedAt: Date | null;
  lastError: string;
  /** when it was last tried */
  failedAt: Date;
}

const FAILED = sql`id, job, user_id AS "userId", invitation_id AS "invitationId", status, attempts,
  replayed_at AS "replayedAt", last_error AS "lastError", failed_at AS "failedAt"`;

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
    attempts,
    lastError,
    failedAt,
  }: Omit<FailedMail<object>, 'id' | 'status' | 'replayedAt'> & { mailId: string },
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO failed_mails AS known (mail_id, job, user_id, invitation_id, status, attempts, last_error, failed_at)
    VALUES (${mailId}, ${JSON.stringify(job)}::jsonb, ${userId}, ${invitationId}, 'FAILED', ${attempts}, ${lastError},
      ${failedAt})
    ON CONFLICT (mail_id) DO UPDATE SET status = 'FAILED', last_error = excluded.last_error WHERE known.status = 'QUEUED'`,
  );
}

/** Records that an attempt failed to send a mail again that had been given up; changes nothing for other mails. */
export async function noteFailedAttempt(
  database: Database,
  mailId: string,
  error: string,
  now: Date,
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE failed_mails SET attempts = attempts + 1, last_error = ${error}, failed_at = ${now}
    WHERE mail_id = ${mailId} AND status = 'QUEUED'`,
  );
}

/** Removes a mail that has been sent after all. */
export async function noteSent(database: Database, mailId: string): Promise<void> {
  await execute(database, sql`DELETE FROM failed_mails WHERE mail_id = ${mailId}`);
}

/** Records that a mail that was to be sent again is not needed any more. */
export async function noteObsolete(database: Database, mailId: string): Promise<void> {
  await execute(database, sql`UPDATE failed_mails SET status = 'OBSOLETE' WHERE mail_id = ${mailId}`);
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

/** How many mails are given up and not being sent again; counts no further than `limit`. */
export async function countFailedMails(database: Database, limit: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM (SELECT FROM failed_mails WHERE status = 'FAILED' LIMIT ${limit}) AS failed`);
  return rows[0]?.count ?? 0;
}

/** A mail that was given up, locked until the end of the transaction. */
export async function lockFailedMail<Job>(
  database: Database,
  id: number,
): Promise<FailedMail<Job> | undefined> {
  const { rows } = await database.query<FailedMail<Job>>(sql`
    SELECT ${FAILED} FROM failed_mails WHERE id = ${id} FOR UPDATE`);
  return rows[0];
}

/**
 * Takes mails to be sent again: one, or all that are given up, at most `limit`, oldest first. Each gets a new id,
 * because receivers discard mails whose id they know, and an earlier attempt may have arrived.
 *
 * @returns them, with the new ids for their jobs
 */
export async function takeFailedMails<Job>(
  database: Database,
  id: number | undefined,
  now: Date,
  limit: number,
): Promise<(FailedMail<Job> & { mailId: string })[]> {
  const { rows } = await database.query<FailedMail<Job> & { mailId: string }>(sql`
    UPDATE failed_mails SET status = 'QUEUED', mail_id = gen_random_uuid(), replayed_at = ${now} WHERE id IN (
      SELECT id FROM failed_mails WHERE status = 'FAILED' ${id === undefined ? empty : sql`AND id = ${id}`}
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING ${FAILED}, mail_id AS "mailId"`);
  return rows;
}

export async function deleteFailedMail(database: Database, id: number): Promise<void> {
  await execute(database, sql`DELETE FROM failed_mails WHERE id = ${id}`);
}

/** Deletes mails that were given up before a time, at most `limit`. */
export async function deleteOldFailedMails(database: Database, before: Date, limit: number): Promise<void> {
  await execute(
    database,
    sql`
    DELETE FROM failed_mails WHERE id IN (
      SELECT id FROM failed_mails WHERE failed_at < ${before} ORDER BY failed_at LIMIT ${limit})`,
  );
}
