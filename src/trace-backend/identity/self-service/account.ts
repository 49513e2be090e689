import type pg from 'pg';
import type { Static } from 'typebox';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { secretHash } from '../../../platform/tokens/secret.ts';
import type { Requester, Visitor } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { checkCurrentPassword, wrongPassword } from '../attempts/current-password.ts';
import type { Mails } from '../mails/mails.ts';
import { takeMailToken } from '../mails/store.ts';
import { type Endings, endSessions } from '../sessions/endings.ts';
import { checkEmail } from '../users/email.ts';
import { checkPasswordRules, type Passwords } from '../users/passwords.ts';
import {
  type Account,
  findSystemAdmins,
  insertUser,
  lockAccount,
  type User,
  updateUser,
} from '../users/store.ts';
import { languageAfter } from '../users/user.ts';
import type { PasswordReset, ProfileUpdate, Registration } from './schemas.ts';

export interface AccountContext {
  pool: pg.Pool;
  passwords: Passwords;
  mails: Mails;
  settings: Pick<Settings, 'PASSWORD_POLICY'>;
  endings: Endings;
}

/** Administrators notified of a new user, at most. */
const NOTICES = 20;

/**
 * Creates an account and sends the mail that confirms its address.
 *
 * @throws Problem invalid
 */
export async function register(
  { pool, passwords, mails, settings }: AccountContext,
  visitor: Visitor,
  body: Static<typeof Registration>,
): Promise<User> {
  const address = checkEmail(body.email, 'email');
  await checkPasswordRules(body.password, 'password', settings);
  const password = await passwords.hash(body.password);
  const user = await transaction(pool, async database => {
    const { name, surname } = body;
    const language = body.mailLanguage ?? body.language ?? 'EN';
    const fresh = { status: 'UNCONFIRMED', role: 'USER', createdAt: new Date() } as const;
    const user = await insertUser(database, { ...address, password, name, surname, language, ...fresh });
    if (!user) throw new Problem('invalid', 'this address is already registered');
    await mails.send(database, [{ kind: 'confirm', to: user.id }]);
    const event: AuditEvent = { action: 'REGISTER_USER', entity: 'user', entityId: user.id, userId: user.id };
    await audit(database, visitor, event);
    return user;
  });
  mails.wake();
  return user;
}

/**
 * Confirms an address by the token that was mailed to it, and notifies the administrators.
 *
 * @throws Problem invalid if the token is not valid
 */
export async function confirmEmail(
  { pool, mails }: AccountContext,
  visitor: Visitor,
  token: string,
): Promise<User> {
  const user = await transaction(pool, async database => {
    const id = await takeMailToken(database, secretHash(token), 'CONFIRM_EMAIL', new Date());
    const user = id === undefined ? undefined : await lockAccount(database, id);
    if (!user) throw unusable('72 hours');
    return noteConfirmed(database, mails, visitor, user, user.id);
  });
  mails.wake();
  return user;
}

/** Records that a user's address is confirmed; later states stay unchanged. */
export async function noteConfirmed(
  database: Database,
  mails: Mails,
  visitor: Visitor,
  user: User,
  userId: number,
): Promise<User> {
  if (user.status !== 'UNCONFIRMED') return user;
  const confirmed = await updateUser(database, user.id, { status: 'CONFIRMED_EMAIL' });
  const admins = await findSystemAdmins(database, NOTICES);
  await mails.send(
    database,
    admins.map(admin => ({ kind: 'notice', to: admin.id, about: user.id })),
  );
  const event: AuditEvent = { action: 'CONFIRM_USER_EMAIL', entity: 'user', entityId: user.id, userId };
  await audit(database, visitor, event);
  return confirmed;
}

function unusable(age: string): Problem {
  const sentence = `token is unknown, used or older than ${age}; request another mail`;
  return new Problem('invalid', sentence, { fields: { token: sentence } });
}

/**
 * Sets a password by a mailed token. Every session of the user ends; the address counts as confirmed too.
 *
 * @returns the user's id
 * @throws Problem invalid
 */
export async function resetPassword(
  { pool, passwords, mails, settings, endings }: AccountContext,
  visitor: Visitor,
  { token, password }: Static<typeof PasswordReset>,
): Promise<number> {
  await checkPasswordRules(password, 'password', settings);
  const hash = await passwords.hash(password);
  const userId = await transaction(pool, async database => {
    const id = await takeMailToken(database, secretHash(token), 'RESET_PASSWORD', new Date());
    const user = id === undefined ? undefined : await lockAccount(database, id);
    if (!user) throw unusable('an hour');
    await updateUser(database, user.id, { password: hash });
    await endSessions(database, user.id, { resets: true });
    await mails.send(database, [{ kind: 'password-changed', to: user.id }]);
    const event: AuditEvent = {
      action: 'RESET_PASSWORD',
      entity: 'user',
      entityId: user.id,
      userId: user.id,
    };
    await audit(database, visitor, event);
    await noteConfirmed(database, mails, visitor, user, user.id);
    return user.id;
  });
  endings.tell(userId);
  mails.wake();
  return userId;
}

/**
 * Changes a user's profile; omitted fields stay unchanged. A new password ends every session.
 *
 * @throws Problem invalid
 */
export async function updateProfile(
  { pool, passwords, mails, settings, endings }: AccountContext,
  requester: Requester,
  { password, currentPassword, ...change }: Static<typeof ProfileUpdate>,
): Promise<Account> {
  const { id } = requester.caller;
  const { name, surname, discoverable } = change;
  const hash = password === undefined ? undefined : await newPassword();
  const user = await transaction(pool, async database => {
    const before = await lockAccount(database, id);
    if (!before) throw new Problem('not_found', 'there is no such user');
    if (hash && hash.checked !== before.password) throw wrongPassword();
    const changed = { name, surname, language: languageAfter(before.language, change), discoverable };
    const user = await updateUser(database, id, { ...changed, ...(hash && { password: hash.made }) });
    const fields = Object.entries({ ...changed, password: hash }).filter(([, value]) => value !== undefined);
    const details = { fields: fields.map(([field]) => field) };
    await audit(database, requester, {
      action: 'UPDATE_USER_PROFILE',
      entity: 'user',
      entityId: id,
      details,
    });
    if (!hash) return user;
    await endSessions(database, id, { resets: true });
    await mails.send(database, [{ kind: 'password-changed', to: id }]);
    return (await lockAccount(database, id)) as Account;
  });
  if (hash) endings.tell(id);
  mails.wake();
  return user;

  /** Checked and hashed before the transaction, so that it does not wait for the hash. */
  async function newPassword(): Promise<{ made: string; checked: string }> {
    await checkPasswordRules(password as string, 'password', settings);
    const account = await checkCurrentPassword({ pool, passwords }, id, currentPassword);
    return { made: await passwords.hash(password as string), checked: account.password };
  }
}
