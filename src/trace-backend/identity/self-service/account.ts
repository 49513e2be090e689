import type pg from 'pg';
import type { Static } from 'typebox';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { secretHash } from '../../../platform/tokens/secret.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import type { Requester, Visitor } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import { checkCurrentPassword, wrongPassword } from '../attempts/current-password.ts';
import { checkMailedPassword, wasChecked } from '../attempts/mailed-password.ts';
import { forgetFactor } from '../factor-setup/setup.ts';
import type { Mails } from '../mails/mails.ts';
import { findTokenUser, type Purpose, takeMailToken } from '../mails/store.ts';
import { checkFreshCode } from '../second-factor/factor.ts';
import { type Endings, endSessions } from '../sessions/endings.ts';
import { checkEmail, emailKeyOf } from '../users/email.ts';
import { checkPasswordRules, type Passwords } from '../users/passwords.ts';
import type { Confirmation } from '../users/schemas.ts';
import {
  type Account,
  findSystemAdmins,
  findUser,
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
  box: SecretBox;
  mails: Mails;
  settings: Pick<Settings, 'PASSWORD_POLICY'>;
  endings: Endings;
  /** Ends the company memberships that a user got by accepting invitations. */
  leaveAccepted: (database: Database, visitor: Visitor, userId: number) => Promise<void>;
}

/** Maximum number of administrators notified of a new user. */
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
    const initial = { status: 'UNCONFIRMED', role: 'USER', createdAt: new Date() } as const;
    const user = await insertUser(database, { ...address, password, name, surname, language, ...initial });
    if (!user) throw new Problem('user.address_registered');
    await mails.send(database, [{ kind: 'confirm', to: user.id }]);
    const event: AuditEvent = { action: 'REGISTER_USER', entity: 'user', entityId: user.id, userId: user.id };
    await audit(database, visitor, event);
    return user;
  });
  mails.wake();
  return user;
}

/**
 * Confirms an address by the token that was mailed to it, and notifies the administrators. It counts as confirmed by its
 * owner only together with the password: another person may have registered the account with it.
 *
 * @throws Problem invalid if the token is not valid or the password is wrong; too_many_requests
 */
export async function confirmEmail(
  context: AccountContext,
  visitor: Visitor,
  { token, password }: Static<typeof Confirmation>,
): Promise<User> {
  const { pool, mails } = context;
  const hash = secretHash(token);
  const checked = await checkMailedPassword(context, { hash, purposes: ['CONFIRM_EMAIL'] }, password);
  const user = await transaction(pool, async database => {
    const user = await takeToken(database, hash, 'CONFIRM_EMAIL');
    if (!user) throw new Problem('user.confirmation_token_unusable', { field: 'token' });
    const byOwner = wasChecked(checked, user);
    return noteConfirmed(database, mails, visitor, user, { userId: user.id, byOwner });
  });
  mails.wake();
  return user;
}

/** Uses up a mailed token; returns its user, locked, unless the address has changed since the mail. */
async function takeToken(database: Database, hash: Buffer, purpose: Purpose): Promise<Account | undefined> {
  const token = await takeMailToken(database, hash, purpose, new Date());
  const user = token && (await lockAccount(database, token.userId));
  return user && emailKeyOf(user.email) === token?.emailKey ? user : undefined;
}

/**
 * Records that a user's address is confirmed; later states stay unchanged.
 *
 * @param by the user who confirmed it, and whether that proves that they own the address
 */
export async function noteConfirmed(
  database: Database,
  mails: Pick<Mails, 'send'>,
  visitor: Visitor,
  user: User,
  { userId, byOwner }: { userId: number; byOwner: boolean },
): Promise<User> {
  const isNew = user.status === 'UNCONFIRMED';
  const isProven = byOwner && !user.emailConfirmed;
  if (!isNew && !isProven) return user;
  const confirmed = await updateUser(database, user.id, {
    ...(isNew && { status: 'CONFIRMED_EMAIL' }),
    ...(isProven && { emailConfirmedAt: new Date() }),
  });
  const admins = isNew ? await findSystemAdmins(database, NOTICES) : [];
  await mails.send(
    database,
    admins.map(admin => ({ kind: 'notice', to: admin.id, about: user.id })),
  );
  const details = isProven ? { byOwner } : {};
  const event = { action: 'CONFIRM_USER_EMAIL', entity: 'user', entityId: user.id, userId, details } as const;
  await audit(database, visitor, event);
  return confirmed;
}

/**
 * Sets a password by a mailed token. Every session of the user ends; the address counts as confirmed by its owner. If it
 * did not before, somebody else may have had the account: memberships from accepted invitations end too, and the second
 * factor of a USER.
 *
 * @returns the user's id
 * @throws Problem invalid
 */
export async function resetPassword(
  context: AccountContext,
  visitor: Visitor,
  { token, password }: Static<typeof PasswordReset>,
): Promise<number> {
  const { pool, passwords, mails, settings, endings } = context;
  await checkPasswordRules(password, 'password', settings);
  const hash = await passwords.hash(password);
  const mailed = secretHash(token);
  const userId = await transaction(pool, async database => {
    const userId = await findTokenUser(database, mailed, ['RESET_PASSWORD'], new Date());
    // Companies are locked before users, as when an invitation is accepted.
    if (userId !== undefined && (await findUser(database, userId))?.emailConfirmed === false) {
      await context.leaveAccepted(database, visitor, userId);
    }
    const user = await takeToken(database, mailed, 'RESET_PASSWORD');
    if (!user) throw new Problem('user.reset_token_unusable', { field: 'token' });
    await updateUser(database, user.id, { password: hash });
    await endSessions(database, user.id, { resets: true });
    if (!user.emailConfirmed) await endEarlierAccess(database, mails, user);
    await mails.send(database, [{ kind: 'password-changed', to: user.id }]);
    const event: AuditEvent = {
      action: 'RESET_PASSWORD',
      entity: 'user',
      entityId: user.id,
      userId: user.id,
    };
    await audit(database, visitor, event);
    await noteConfirmed(database, mails, visitor, user, { userId: user.id, byOwner: true });
    return user.id;
  });
  endings.notify(userId);
  mails.wake();
  return userId;
}

/**
 * Takes an account from the person who had it before the owner of its address. Administrators keep their second factor,
 * because a stolen mailbox must not be enough for their rights, and the person who promoted them knows them. Another
 * SYSTEM_ADMIN can remove it.
 */
async function endEarlierAccess(database: Database, mails: Mails, { id, role }: User): Promise<void> {
  if (role === 'USER') await forgetFactor(database, mails, id);
  await updateUser(database, id, { discoverable: false });
}

/**
 * Changes a user's profile; omitted fields stay unchanged. A new password ends every session.
 *
 * @throws Problem invalid; unauthenticated without the code that a new password needs; too_many_requests
 */
export async function updateProfile(
  { pool, passwords, box, mails, settings, endings }: AccountContext,
  requester: Requester,
  { password, currentPassword, code, ...change }: Static<typeof ProfileUpdate>,
): Promise<Account> {
  const { id } = requester.caller;
  const { name, surname, discoverable } = change;
  const newHash = password === undefined ? undefined : await newPassword();
  const user = await transaction(pool, async database => {
    const before = await lockAccount(database, id);
    if (!before) throw new Problem('user.unknown');
    if (newHash && newHash.checked !== before.password) throw wrongPassword();
    const changed = { name, surname, language: languageAfter(before.language, change), discoverable };
    const user = await updateUser(database, id, { ...changed, ...(newHash && { password: newHash.hash }) });
    const fields = Object.entries({ ...changed, password: newHash }).filter(
      ([, value]) => value !== undefined,
    );
    const details = { fields: fields.map(([field]) => field) };
    await audit(database, requester, {
      action: 'UPDATE_USER_PROFILE',
      entity: 'user',
      entityId: id,
      details,
    });
    if (!newHash) return user;
    await endSessions(database, id, { resets: true });
    await mails.send(database, [{ kind: 'password-changed', to: id }]);
    return (await lockAccount(database, id)) as Account;
  });
  if (newHash) endings.notify(id);
  mails.wake();
  return user;

  /** Checked and hashed before the transaction, so that it does not wait for the hash. */
  async function newPassword(): Promise<{ hash: string; checked: string }> {
    await checkPasswordRules(password as string, 'password', settings);
    const account = await checkCurrentPassword({ pool, passwords }, id, currentPassword);
    await checkFreshCode({ pool, box }, id, code);
    return { hash: await passwords.hash(password as string), checked: account.password };
  }
}
