import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';

/** A second factor as stored. */
export interface SecondFactor {
  userId: number;
  /** encrypted by the secret box */
  secret: string;
  confirmed: boolean;
}

/** Stores an unconfirmed factor, replacing an earlier unconfirmed one; returns false if there is a confirmed one. */
export async function putUnconfirmed(database: Database, userId: number, secret: string): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO second_factors AS stored (user_id, secret, last_step) VALUES (${userId}, ${secret}, 0)
    ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, last_step = 0 WHERE stored.confirmed_at IS NULL`);
  return rowCount === 1;
}

export async function findSecondFactor(
  database: Database,
  userId: number,
): Promise<SecondFactor | undefined> {
  const { rows } = await database.query<SecondFactor>(sql`
    SELECT user_id AS "userId", secret, confirmed_at IS NOT NULL AS confirmed
    FROM second_factors WHERE user_id = ${userId}`);
  return rows[0];
}

/** Uses up all codes until a time step; returns false if they were used up before. */
export async function useStep(database: Database, userId: number, step: number): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE second_factors SET last_step = ${step} WHERE user_id = ${userId} AND last_step < ${step}`);
  return rowCount === 1;
}

export async function confirmFactor(database: Database, userId: number, now: Date): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE second_factors SET confirmed_at = ${now} WHERE user_id = ${userId}`,
  );
}

/** Deletes a user's second factor and recovery codes. */
export async function deleteSecondFactor(database: Database, userId: number): Promise<boolean> {
  await execute(database, sql`DELETE FROM recovery_codes WHERE user_id = ${userId}`);
  const { rowCount } = await database.query(sql`DELETE FROM second_factors WHERE user_id = ${userId}`);
  return rowCount === 1;
}

/** Stores recovery codes, replacing earlier ones. */
export async function putRecoveryCodes(
  database: Database,
  userId: number,
  hashes: readonly Buffer[],
): Promise<void> {
  await execute(database, sql`DELETE FROM recovery_codes WHERE user_id = ${userId}`);
  await execute(
    database,
    sql`
    INSERT INTO recovery_codes (user_id, hash) SELECT ${userId}, hash FROM unnest(${hashes}::bytea[]) AS hash`,
  );
}

/** Uses up a recovery code; returns false if there is none. */
export async function takeRecoveryCode(database: Database, userId: number, hash: Buffer): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    DELETE FROM recovery_codes WHERE user_id = ${userId} AND hash = ${hash}`);
  return rowCount === 1;
}

export async function countRecoveryCodes(database: Database, userId: number): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM recovery_codes WHERE user_id = ${userId}`);
  return rows[0]?.count ?? 0;
}

/** The next stored secrets after a user id, by user id. */
export async function listSecrets(
  database: Database,
  after: number,
  limit: number,
): Promise<Pick<SecondFactor, 'userId' | 'secret'>[]> {
  const { rows } = await database.query<Pick<SecondFactor, 'userId' | 'secret'>>(sql`
    SELECT user_id AS "userId", secret FROM second_factors WHERE user_id > ${after} ORDER BY user_id LIMIT ${limit}`);
  return rows;
}

/** Replaces a secret by its re-encrypted form, unless it has been changed meanwhile. */
export async function resealSecondFactor(
  database: Database,
  userId: number,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE second_factors SET secret = ${to} WHERE user_id = ${userId} AND secret = ${from}`,
  );
}
