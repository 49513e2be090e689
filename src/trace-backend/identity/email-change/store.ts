import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { Side } from '../mails/mail-jobs.ts';

/** A pending change of a user's address. */
export interface EmailChange {
  changeId: string;
  userId: number;
  /** the new address */
  email: string;
  emailKey: string;
  oldConfirmedAt: Date | null;
  newConfirmedAt: Date | null;
  /** whether the new address was confirmed together with the password */
  isProven: boolean;
  expiresAt: Date;
}

const CHANGE = sql`change_id AS "changeId", user_id AS "userId", email, email_key AS "emailKey",
  old_confirmed_at AS "oldConfirmedAt", new_confirmed_at AS "newConfirmedAt", is_proven AS "isProven",
  expires_at AS "expiresAt"`;

/** Stores a change, replacing an earlier one of the same user. */
export async function putEmailChange(
  database: Database,
  {
    changeId,
    userId,
    email,
    emailKey,
    oldConfirmedAt,
    expiresAt,
  }: Omit<EmailChange, 'newConfirmedAt' | 'isProven'>,
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO email_changes (user_id, change_id, email, email_key, old_confirmed_at, expires_at)
    VALUES (${userId}, ${changeId}, ${email}, ${emailKey}, ${oldConfirmedAt}, ${expiresAt})
    ON CONFLICT (user_id) DO UPDATE SET change_id = excluded.change_id, email = excluded.email,
      email_key = excluded.email_key, expires_at = excluded.expires_at,
      old_confirmed_at = excluded.old_confirmed_at, new_confirmed_at = NULL, is_proven = false`,
  );
}

/** A user's change that has not expired. */
export async function findEmailChange(
  database: Database,
  userId: number,
  now: Date,
): Promise<EmailChange | undefined> {
  const { rows } = await database.query<EmailChange>(sql`
    SELECT ${CHANGE} FROM email_changes WHERE user_id = ${userId} AND expires_at > ${now}`);
  return rows[0];
}

/** The new addresses of changes that users have not completed, by the ids of the changes. */
export async function findNewAddresses(
  database: Database,
  userIds: readonly number[],
  now: Date,
): Promise<Map<string, string>> {
  const { rows } = await database.query<EmailChange>(sql`
    SELECT ${CHANGE} FROM email_changes WHERE user_id = ANY (${userIds}::integer[]) AND expires_at > ${now}`);
  return new Map(rows.map(({ changeId, email }) => [changeId, email]));
}

/** A user's change that has not expired, locked until the end of the transaction. */
export async function shareEmailChange(
  database: Database,
  userId: number,
  now: Date,
): Promise<EmailChange | undefined> {
  const { rows } = await database.query<EmailChange>(sql`
    SELECT ${CHANGE} FROM email_changes WHERE user_id = ${userId} AND expires_at > ${now} FOR SHARE`);
  return rows[0];
}

/** Records the confirmation of one of the two addresses. */
export async function confirmSide(
  database: Database,
  userId: number,
  side: Side,
  { now, isProven }: { now: Date; isProven: boolean },
): Promise<EmailChange | undefined> {
  const { rows } = await database.query<EmailChange>(sql`
    UPDATE email_changes SET
      old_confirmed_at = CASE WHEN ${side} = 'old' THEN ${now} ELSE old_confirmed_at END,
      new_confirmed_at = CASE WHEN ${side} = 'new' THEN ${now} ELSE new_confirmed_at END,
      is_proven = is_proven OR ${isProven}
    WHERE user_id = ${userId} AND expires_at > ${now} RETURNING ${CHANGE}`);
  return rows[0];
}

export async function deleteEmailChange(database: Database, userId: number): Promise<boolean> {
  const { rowCount } = await database.query(sql`DELETE FROM email_changes WHERE user_id = ${userId}`);
  return rowCount === 1;
}
