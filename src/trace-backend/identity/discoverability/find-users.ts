import type pg from 'pg';
import { emailKeyOf } from '../users/email.ts';
import { findAccount, findUsers } from '../users/store.ts';

/**
 * The user who has a contact, and whether they are discoverable; undefined if nobody has it. Addresses that their owners
 * have not confirmed are ignored, because anyone can register another person's address.
 */
export async function findHolder(
  pool: pg.Pool,
  contact: string,
): Promise<{ user_id: string; discoverable: boolean } | undefined> {
  const user = await findAccount(pool, emailKeyOf(contact));
  if (user?.status !== 'ACTIVE' || !user.emailConfirmed) return undefined;
  return { user_id: String(user.id), discoverable: user.discoverable };
}

/** The language of the user who has an address, and whether they can log in; undefined if nobody has it. */
export async function findReader(
  pool: pg.Pool,
  address: string,
): Promise<{ language: string; isActive: boolean } | undefined> {
  const user = await findAccount(pool, emailKeyOf(address));
  if (!user || user.erased) return undefined;
  return { language: user.language, isActive: user.status === 'ACTIVE' };
}

/** User ids in the packet service that can be users of the trace backend. */
const USER_ID = /^[1-9]\d{0,8}$/;

/** The full names of users by id, without unknown users and users without a name. */
export async function findNames(pool: pg.Pool, ids: readonly string[]): Promise<Map<string, string>> {
  const users = await findUsers(pool, ids.filter(id => USER_ID.test(id)).map(Number));
  const named = users.map(user => [String(user?.id), [user?.name, user?.surname].filter(Boolean).join(' ')]);
  return new Map(named.filter((pair): pair is [string, string] => pair[1] !== ''));
}
