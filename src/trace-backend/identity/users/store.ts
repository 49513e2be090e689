import sql, { raw } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import { rowsByKey, sharedRead } from '../../../platform/database/shared-read.ts';
import type { Role } from '../../base/access/role.ts';
import type { MailLanguage } from '../../base/contract/language.ts';
import type { Page } from '../../base/contract/schemas.ts';
import type { Lists } from '../../base/lists/lists.ts';
import { allOf } from '../../base/lists/store.ts';

export type Status = 'UNCONFIRMED' | 'CONFIRMED_EMAIL' | 'ACTIVE' | 'DEACTIVATED';

export interface User {
  id: number;
  email: string;
  name: string;
  surname: string;
  /** of mails */
  language: MailLanguage;
  status: Status;
  role: Role;
  discoverable: boolean;
  /** whether the owner of the address has confirmed it, rather than an administrator or nobody */
  emailConfirmed: boolean;
  /** whether the password is still the one that the program created the account with */
  hasFirstPassword: boolean;
  /** whether the account is erased, or being erased */
  erased: boolean;
}

/** A user with the fields needed for logins. */
export interface Account extends User {
  password: string;
  sessionVersion: number;
}

const USER = sql`id, email, name, surname, language, status, role, discoverable,
  email_confirmed_at IS NOT NULL AS "emailConfirmed", has_first_password AS "hasFirstPassword", erasing_at IS NOT NULL AS erased`;
const ACCOUNT = sql`${USER}, password, session_version AS "sessionVersion"`;

/** @returns undefined if the address is already registered */
export async function insertUser(
  database: Database,
  user: Omit<User, 'id' | 'discoverable' | 'emailConfirmed' | 'hasFirstPassword' | 'erased'> & {
    hasFirstPassword?: boolean;
    /** when the owner of the address confirmed it; without it, nobody has */
    emailConfirmedAt?: Date;
    emailKey: string;
    password: string;
    createdAt: Date;
  },
): Promise<User | undefined> {
  const { rows } = await database.query<User>(sql`
    INSERT INTO users (email, email_key, password, name, surname, language, status, role, created_at,
      has_first_password, email_confirmed_at)
    VALUES (${user.email}, ${user.emailKey}, ${user.password}, ${user.name}, ${user.surname}, ${user.language},
      ${user.status}, ${user.role}, ${user.createdAt}, ${user.hasFirstPassword ?? false},
      ${user.emailConfirmedAt ?? null})
    ON CONFLICT (email_key) DO NOTHING RETURNING ${USER}`);
  return rows[0];
}

const users = sharedRead(async (database, ids: readonly number[]) => {
  const { rows } = await database.query<User>({
    name: 'find-users',
    text: `SELECT ${USER.text} FROM users WHERE id = ANY ($1)`,
    values: [ids],
  });
  return rowsByKey(ids, rows, ({ id }) => id);
});

export const findUser = (database: Database, id: number): Promise<User | undefined> =>
  users.one(database, id);

/** Users by their ids, in that order. */
export const findUsers = (database: Database, ids: readonly number[]): Promise<(User | undefined)[]> =>
  users.many(database, ids);

/** The lookup form of a user's address. */
export async function findEmailKey(database: Database, id: number): Promise<string | undefined> {
  const { rows } = await database.query<{ emailKey: string }>(sql`
    SELECT email_key AS "emailKey" FROM users WHERE id = ${id}`);
  return rows[0]?.emailKey;
}

/** The lookup form of a user's address, if its owner has confirmed it; only then it is surely the user's. */
export async function findConfirmedEmailKey(database: Database, id: number): Promise<string | undefined> {
  const { rows } = await database.query<{ emailKey: string }>(sql`
    SELECT email_key AS "emailKey" FROM users WHERE id = ${id} AND email_confirmed_at IS NOT NULL`);
  return rows[0]?.emailKey;
}

/** A user, locked until the end of the transaction. */
export async function lockAccount(database: Database, id: number): Promise<Account | undefined> {
  const { rows } = await database.query<Account>(
    sql`SELECT ${ACCOUNT} FROM users WHERE id = ${id} FOR UPDATE`,
  );
  return rows[0];
}

export async function findAccount(database: Database, emailKey: string): Promise<Account | undefined> {
  const { rows } = await database.query<Account>(
    sql`SELECT ${ACCOUNT} FROM users WHERE email_key = ${emailKey}`,
  );
  return rows[0];
}

export async function findAccountById(database: Database, id: number): Promise<Account | undefined> {
  const { rows } = await database.query<Account>(sql`SELECT ${ACCOUNT} FROM users WHERE id = ${id}`);
  return rows[0];
}

/** A change of a user; absent fields stay unchanged. */
export type UserChange = Partial<
  Pick<User, 'name' | 'surname' | 'language' | 'discoverable' | 'status' | 'role'> & {
    password: string;
    emailConfirmedAt: Date;
  }
>;

export async function updateUser(database: Database, id: number, change: UserChange): Promise<Account> {
  const { name, surname, language, discoverable, status, role, password, emailConfirmedAt } = change;
  const { rows } = await database.query<Account>(sql`
    UPDATE users SET name = coalesce(${name}, name), surname = coalesce(${surname}, surname),
      language = coalesce(${language}, language), discoverable = coalesce(${discoverable}, discoverable),
      status = coalesce(${status}, status), role = coalesce(${role}, role),
      password = coalesce(${password}, password),
      email_confirmed_at = coalesce(${emailConfirmedAt}, email_confirmed_at),
      has_first_password = has_first_password AND ${password === undefined}
    WHERE id = ${id} RETURNING ${ACCOUNT}`);
  return rows[0] as Account;
}

/**
 * Changes a user's address, with the time when its owner confirmed it; returns false if it belongs to another user.
 *
 * @throws the database's unique violation if another user takes it at the same time
 */
export async function updateEmail(
  database: Database,
  id: number,
  { email, emailKey, confirmedAt }: { email: string; emailKey: string; confirmedAt: Date | null },
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    UPDATE users SET email = ${email}, email_key = ${emailKey}, email_confirmed_at = ${confirmedAt} WHERE id = ${id} AND NOT EXISTS (
      SELECT FROM users AS others WHERE others.email_key = ${emailKey} AND others.id <> ${id})`);
  return rowCount === 1;
}

/** Invalidates every token with the user's current session version. */
export async function raiseSessionVersion(database: Database, id: number): Promise<void> {
  await execute(database, sql`UPDATE users SET session_version = session_version + 1 WHERE id = ${id}`);
}

interface UserFilter {
  /** part of the address or of the names */
  query?: string | undefined;
  /** part of the address */
  email?: string | undefined;
  surname?: string | undefined;
  status?: Status | undefined;
  role?: Role | undefined;
  ids?: readonly number[] | undefined;
}

export const SORTABLE = ['id', 'email', 'name', 'surname', 'status', 'role'] as const;
type UserSort = (typeof SORTABLE)[number];
const KEYS: Record<UserSort, string> = {
  id: 'id',
  email: 'email_key',
  name: 'lower(name)',
  surname: 'lower(surname)',
  status: 'status',
  role: 'role',
};

/** The columns in which a user is searched. */
const SEARCHED = "email || ' ' || name || ' ' || surname";

const contains = (text: string, part: string | undefined) =>
  part === undefined ? undefined : sql`strpos(lower(${raw(text)}), lower(${part})) > 0`;

/**
 * A page of users, and their total number.
 *
 * @param visibleIds the ids of the users that may be listed; all without it
 */
export async function listUsers(
  database: Database,
  lists: Lists,
  { query, email, surname, status, role, ids }: UserFilter,
  page: Page<UserSort>,
  visibleIds?: readonly number[],
): Promise<{ items: User[]; count: number }> {
  const where = allOf([
    visibleIds && sql`id = ANY (${visibleIds}::integer[])`,
    ids && sql`id = ANY (${ids}::integer[])`,
    status === undefined ? undefined : sql`status = ${status}`,
    role === undefined ? undefined : sql`role = ${role}`,
    contains(SEARCHED, query),
    contains('email', email),
    contains('surname', surname),
  ]);
  const name = `users ${JSON.stringify({ query, email, surname, status, role, ids, among: visibleIds })}`;
  const source = { table: 'users', columns: USER, key: KEYS[page.sortBy], gather: where, look: where };
  return lists.list<User>(database, name, source, page);
}

/** The ids of users whose address and names contain a text, oldest first. */
export async function searchUserIds(database: Database, text: string, limit: number): Promise<number[]> {
  const { rows } = await database.query<{ id: number }>(sql`
    SELECT id FROM users WHERE ${contains(SEARCHED, text)} ORDER BY id LIMIT ${limit}`);
  return rows.map(({ id }) => id);
}

/** The active SYSTEM_ADMINs, oldest first, locked until the end of the transaction. */
export async function lockSystemAdmins(database: Database): Promise<User[]> {
  const { rows } = await database.query<User>(sql`
    SELECT ${USER} FROM users WHERE role = 'SYSTEM_ADMIN' AND status = 'ACTIVE' ORDER BY id FOR UPDATE`);
  return rows;
}

/** Active administrators who are notified of new users, oldest first. */
export async function findSystemAdmins(database: Database, limit: number): Promise<User[]> {
  const { rows } = await database.query<User>(sql`
    SELECT ${USER} FROM users WHERE role = 'SYSTEM_ADMIN' AND status = 'ACTIVE' ORDER BY id LIMIT ${limit}`);
  return rows;
}

export async function countSystemAdmins(database: Database): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM users WHERE role = 'SYSTEM_ADMIN'`);
  return rows[0]?.count ?? 0;
}

/** The number of active users with an unconfirmed address. */
export async function countUnconfirmed(database: Database): Promise<number> {
  const { rows } = await database.query<{ count: number }>(sql`
    SELECT count(*)::int AS count FROM users WHERE status = 'ACTIVE' AND email_confirmed_at IS NULL`);
  return rows[0]?.count ?? 0;
}
