import sql from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import type { User } from './store.ts';

type PersonalUser = Omit<User, 'erased' | 'emailConfirmed' | 'hasFirstPassword'> & {
  createdAt: Date;
  emailConfirmedAt: Date | null;
};

/** The stored data of a user, without the password. */
export async function findPersonalUser(database: Database, id: number): Promise<PersonalUser | undefined> {
  const { rows } = await database.query<PersonalUser>(sql`
    SELECT id, email, name, surname, language, status, role, discoverable, created_at AS "createdAt",
      email_confirmed_at AS "emailConfirmedAt"
    FROM users WHERE id = ${id}`);
  return rows[0];
}

/** Marks an account as being erased: logins are refused from now on. */
export async function beginErasure(database: Database, id: number, now: Date): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE users SET status = 'DEACTIVATED', role = 'USER', discoverable = false,
      erasing_at = coalesce(erasing_at, ${now})
    WHERE id = ${id}`,
  );
}

/** An account whose erasure has begun. */
export interface Erasing {
  email: string;
  emailKey: string;
  /** whether the owner of the address has confirmed it; otherwise it may be another person's */
  emailConfirmed: boolean;
}

/** An account whose erasure has begun, with its address; undefined if the erasure is complete. */
export async function findErasing(database: Database, id: number): Promise<Erasing | undefined> {
  const { rows } = await database.query<Erasing>(sql`
    SELECT email, email_key AS "emailKey", email_confirmed_at IS NOT NULL AS "emailConfirmed" FROM users
    WHERE id = ${id} AND erasing_at IS NOT NULL AND erased_at IS NULL`);
  return rows[0];
}

/** Accounts whose erasure began before a time and is not complete, in the order of their ids, after `after`. */
export async function listErasing(
  database: Database,
  { before, after, limit }: { before: Date; after: number; limit: number },
): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM users WHERE erasing_at < ${before} AND erased_at IS NULL AND id > ${after}
    ORDER BY id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** Removes identifying data from an account. */
export async function anonymise(
  database: Database,
  id: number,
  { email, password, now }: { email: string; password: string; now: Date },
): Promise<void> {
  await execute(
    database,
    sql`
    UPDATE users SET email = ${email}, email_key = ${email}, password = ${password},
      email_confirmed_at = NULL, has_first_password = false, name = 'Erased', surname = 'User', language = 'EN',
      erased_at = ${now}
    WHERE id = ${id} AND erased_at IS NULL`,
  );
}
