import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { type Database, transaction } from '../../../platform/postgres/database.ts';
import { newSecret, secretHash } from '../../../platform/tokens/secret.ts';
import { audit } from '../../audit/audit.ts';
import type { Keys } from '../../keys/keys.ts';
import { emailKeyOf } from '../users/email.ts';
import { checkPassword } from '../users/passwords.ts';
import { type Account, findAccount, lockAccount, updateUser } from '../users/store.ts';
import { type Cookies, REFRESH_COOKIE, REFRESH_SECONDS, type Tokens } from './cookies.ts';
import {
  deleteLoginFailures,
  findLoginFailures,
  insertLoginFailure,
  insertRefreshToken,
  useRefreshToken,
} from './store.ts';

/** So many failures for one account from one address, in milliseconds, and it is over for a while. */
const MAX_FAILURES = 10;
const FAILURES_MS = 15 * 60_000;
/** A refresh token that was used is good once more for a moment: on a bad network the first answer may be lost. */
const GRACE_MS = 60_000;

/** Logging in and what follows from it. */
export interface Sessions {
  /** @throws Problem unauthenticated, too_many_requests */
  login(request: FastifyRequest, reply: FastifyReply, username: string, password: string): Promise<Account>;
  /** Gives a user the cookies of a session. */
  begin(reply: FastifyReply, user: Account): Promise<void>;
  /** @throws Problem unauthenticated */
  refresh(request: FastifyRequest, reply: FastifyReply): Promise<Account>;
  /** Ends every session of a user. */
  logout(request: FastifyRequest, reply: FastifyReply, userId: number): Promise<void>;
}

export function openSessions(pool: pg.Pool, keys: Keys, cookies: Cookies): Sessions {
  /** Keeps a session of a user; the tokens that it returns may be given away once that is committed. */
  async function keep(database: Database, user: Account): Promise<Tokens> {
    const now = new Date();
    const { secret, hash } = newSecret();
    const expiresAt = new Date(now.getTime() + REFRESH_SECONDS * 1000);
    const { id, email, role, sessionVersion } = user;
    const access = await keys.sign({ sub: String(id), type: 'access', email, role, ver: sessionVersion });
    await insertRefreshToken(database, { hash, userId: id, sessionVersion, expiresAt }, now);
    return { access, refresh: secret };
  }

  async function begin(reply: FastifyReply, user: Account): Promise<void> {
    cookies.set(reply, await keep(pool, user));
  }

  return {
    begin,
    async login(request, reply, username, password) {
      const key = emailKeyOf(username);
      const attempt = await admit(pool, key, request.ip);
      const account = await findAccount(pool, key);
      if (!(await checkPassword(account?.password, password)) || !account) {
        throw new Problem('unauthenticated', 'username or password is wrong');
      }
      await deleteLoginFailures(pool, attempt);
      if (account.status !== 'ACTIVE') throw new Problem('unauthenticated', inactive[account.status]);
      const { id } = account;
      const tokens = await transaction(pool, async database => {
        await audit(database, request, { action: 'LOGIN', entity: 'user', entityId: id, userId: id });
        return keep(database, account);
      });
      cookies.set(reply, tokens);
      return account;
    },
    async refresh(request, reply) {
      const account = await exchange(pool, request);
      await begin(reply, account);
      return account;
    },
    async logout(request, reply, userId) {
      await transaction(pool, async database => {
        await updateUser(database, userId, { endSessions: true });
        await audit(database, request, { action: 'LOGOUT', entity: 'user', entityId: userId });
      });
      cookies.clear(reply);
    },
  };
}

const inactive = {
  UNCONFIRMED: 'the account is not active: its e-mail address waits to be confirmed',
  CONFIRMED_EMAIL: 'the account is not active: it waits for an administrator',
  DEACTIVATED: 'the account is not active: an administrator deactivated it',
};

/**
 * Notes an attempt to log in, and refuses it after too many failures. What was typed is kept as its SHA-256: people
 * type passwords into the wrong field.
 *
 * @returns what names the attempts of this account and address
 * @throws Problem too_many_requests
 */
async function admit(pool: pg.Pool, emailKey: string, address: string) {
  const account = hash('sha256', emailKey, 'buffer');
  const at = new Date();
  const since = new Date(at.getTime() - FAILURES_MS);
  await insertLoginFailure(pool, { account, address, at }, since);
  const failures = await findLoginFailures(pool, { account, address }, since);
  if (failures.length > MAX_FAILURES) {
    await deleteLoginFailures(pool, { account, address, at });
    const oldest = failures.at(-MAX_FAILURES - 1) as Date;
    const seconds = Math.ceil((oldest.getTime() + FAILURES_MS - at.getTime()) / 1000);
    throw new Problem('too_many_requests', 'too many failed logins; try again later', {
      retryAfter: Math.max(1, seconds),
    });
  }
  return { account, address };
}

/**
 * Takes a refresh token for its successor. One that was used before, and not just now, was stolen or copied: then
 * every session of the user ends (RFC 9700 §4.14.2).
 */
async function exchange(pool: pg.Pool, request: FastifyRequest): Promise<Account> {
  const ended = new Problem('unauthenticated', 'the session has ended; log in again');
  const token = request.cookies[REFRESH_COOKIE];
  if (!token) throw ended;
  const account = await transaction(pool, async database => {
    const now = new Date();
    const kept = await useRefreshToken(database, secretHash(token), now);
    if (!kept || kept.expiresAt < now) return undefined;
    const account = await lockAccount(database, kept.userId);
    if (account?.status !== 'ACTIVE' || account.sessionVersion !== kept.sessionVersion) return undefined;
    if (kept.usedAt && now.getTime() - kept.usedAt.getTime() > GRACE_MS) {
      await updateUser(database, account.id, { endSessions: true });
      const deed = { action: 'REFRESH_TOKEN_REUSED', entity: 'user', entityId: account.id, userId: null };
      await audit(database, request, deed);
      return undefined;
    }
    return account;
  });
  if (!account) throw ended;
  return account;
}
