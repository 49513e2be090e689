import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import { type Database, transaction } from '../../../platform/postgres/database.ts';
import { newSecret, secretHash } from '../../../platform/tokens/secret.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import type { Caller } from '../../access/authentication.ts';
import { audit } from '../../audit/audit.ts';
import type { Keys } from '../../keys/keys.ts';
import { codeNeeded, proveFactor, requiredFactor } from '../second-factor/factor.ts';
import type { Requirement } from '../second-factor/requirement.ts';
import { emailKeyOf } from '../users/email.ts';
import { checkPassword } from '../users/passwords.ts';
import { type Account, findAccount, findAccountById, lockAccount } from '../users/store.ts';
import { deleteLoginFailures, type LoginAttempt } from '../attempts/store.ts';
import { type Cookies, REFRESH_COOKIE, SESSION_SECONDS } from './cookies.ts';
import { type Endings, endSessions } from './endings.ts';
import { admitLogin, noteLogin } from '../attempts/limits.ts';
import {
  findRefreshTokenUser,
  insertRefreshToken,
  insertSession,
  lockRefreshToken,
  markRefreshTokenUsed,
  type Session,
  touchSession,
} from './store.ts';

/** A refresh token that was used is good once more for a moment: on a bad network the first answer may be lost. */
const GRACE_MS = 60_000;
/** Characters of a program's name that are kept. */
const MAX_USER_AGENT = 200;

export interface Credentials {
  username: string;
  password: string;
  /** of the second factor, where the account has one */
  code?: string | undefined;
}

/** Logging in and what follows from it. */
export interface Sessions {
  /** @throws Problem unauthenticated, too_many_requests */
  login(request: FastifyRequest, reply: FastifyReply, credentials: Credentials): Promise<Account>;
  /** Begins another session of a user, whose earlier ones have ended. */
  beginAnew(
    request: FastifyRequest,
    reply: FastifyReply,
    user: Account,
    secondFactor: boolean,
  ): Promise<void>;
  /** Gives the caller an access token that says that the session has proven a second factor. */
  signAnew(reply: FastifyReply, caller: Caller): Promise<void>;
  /** @throws Problem unauthenticated */
  refresh(request: FastifyRequest, reply: FastifyReply): Promise<Account>;
  /**
   * Ends every session of a user: of the caller's access token, or else of the refresh token.
   *
   * @throws Problem unauthenticated when neither names one
   */
  logout(request: FastifyRequest, reply: FastifyReply): Promise<void>;
}

interface SessionContext {
  pool: pg.Pool;
  box: SecretBox;
  requirement: Requirement;
  keys: Keys;
  cookies: Cookies;
  endings: Endings;
}

export function openSessions(context: SessionContext): Sessions {
  const { pool, keys, cookies, endings, requirement } = context;
  const accessToken = (user: Account, { id: sid, secondFactor }: Pick<Session, 'id' | 'secondFactor'>) => {
    const { id, email, role, sessionVersion } = user;
    const claims = { sub: String(id), type: 'access', email, role, ver: sessionVersion, sid };
    // A packet service elsewhere knows nothing of second factors; it refuses who is not activated.
    const isOpen = requirement.isOpen({ role, secondFactor });
    return keys.sign({ ...claims, ...(isOpen && { is_activated: false }) });
  };

  /** Begins a session; its token is signed before the transaction, which must not wait for another connection. */
  async function begin(
    request: FastifyRequest,
    reply: FastifyReply,
    user: Account,
    secondFactor: boolean,
    alongWith: (database: Database) => Promise<void>,
  ): Promise<void> {
    const session = newSession(request, user, secondFactor);
    const access = await accessToken(user, session);
    const secret = await transaction(pool, async database => {
      await alongWith(database);
      await insertSession(database, session);
      return newRefreshToken(database, user, session);
    });
    cookies.set(reply, { access, refresh: { secret, expiresAt: session.expiresAt } });
  }

  return {
    async login(request, reply, credentials) {
      const { account, attempt, isProven } = await checkLogin(context, request, credentials);
      await begin(request, reply, account, isProven, async database => {
        await noteLogin(database, attempt, account.id);
        const deed = { action: 'LOGIN', entity: 'user', entityId: account.id, userId: account.id };
        await audit(database, request, deed);
      });
      return account;
    },
    beginAnew: (request, reply, user, secondFactor) =>
      begin(request, reply, user, secondFactor, async () => {}),
    async signAnew(reply, { id, sessionId }) {
      const user = await findAccountById(pool, id);
      if (!user) throw new Problem('unauthenticated', 'the session has ended; log in again');
      cookies.set(reply, { access: await accessToken(user, { id: sessionId, secondFactor: true }) });
    },
    async refresh(request, reply) {
      const { account, session, secret, reused } = await transaction(pool, database =>
        exchange(database, request),
      );
      if (reused !== undefined) endings.tell(reused);
      if (!account) throw new Problem('unauthenticated', 'the session has ended; log in again');
      const access = await accessToken(account, session);
      cookies.set(reply, { access, refresh: { secret, expiresAt: session.expiresAt } });
      return account;
    },
    async logout(request, reply) {
      const userId = request.caller?.id ?? (await transaction(pool, db => refreshTokenUser(db, request)));
      cookies.clear(reply);
      if (userId === undefined) throw new Problem('unauthenticated', 'nobody is logged in');
      await transaction(pool, async database => {
        await lockAccount(database, userId);
        await endSessions(database, userId, { resets: false });
        await audit(database, request, { action: 'LOGOUT', entity: 'user', entityId: userId, userId });
      });
      endings.tell(userId);
    },
  };
}

const inactive = {
  UNCONFIRMED: 'the account is not active: its e-mail address waits to be confirmed',
  CONFIRMED_EMAIL: 'the account is not active: it waits for an administrator',
  DEACTIVATED: 'the account is not active: an administrator deactivated it',
};

/**
 * Checks a login: the password, whether the account is active, and the second factor where there is one.
 *
 * @throws Problem unauthenticated, too_many_requests
 */
async function checkLogin(
  context: SessionContext,
  request: FastifyRequest,
  { username, password, code }: Credentials,
): Promise<{ account: Account; attempt: LoginAttempt; isProven: boolean }> {
  const { pool } = context;
  const key = emailKeyOf(username);
  const account = await findAccount(pool, key);
  const attempt = await admitLogin(pool, key, account?.id, request.ip);
  const isRight = await checkPassword(account?.password, password);
  if (!isRight || !account) {
    await noteFailure(pool, request, account, attempt, 'password');
    throw new Problem('unauthenticated', 'username or password is wrong');
  }
  if (account.status !== 'ACTIVE') {
    await deleteLoginFailures(pool, attempt);
    await noteFailure(pool, request, account, attempt, account.status);
    throw new Problem('unauthenticated', inactive[account.status]);
  }
  const isProven = await checkSecondFactor(context, request, { account, attempt, code });
  return { account, attempt, isProven };
}

/**
 * Has a login whose password is right prove the second factor, where the account has one.
 *
 * @returns whether there is one
 * @throws Problem unauthenticated, too_many_requests
 */
async function checkSecondFactor(
  { pool, box }: SessionContext,
  request: FastifyRequest,
  { account, attempt, code }: { account: Account; attempt: LoginAttempt; code: string | undefined },
): Promise<boolean> {
  const factor = await requiredFactor(pool, account.id);
  if (!factor) return false;
  if (code === undefined) {
    // No failure, and no success that would clear those before.
    await deleteLoginFailures(pool, attempt);
    throw codeNeeded('code is needed: this account has a second factor');
  }
  if (!(await proveFactor({ pool, box }, factor, code))) {
    await noteFailure(pool, request, account, attempt, 'code');
    throw codeNeeded('code is not one of the second factor, or was used before');
  }
  return true;
}

/** Writes a failed login down; an account that does not exist is named by the hash of what was typed. */
async function noteFailure(
  database: Database,
  request: FastifyRequest,
  account: Account | undefined,
  attempt: LoginAttempt,
  reason: string,
): Promise<void> {
  const entityId = account?.id ?? attempt.account.toString('hex').slice(0, 16);
  const details = { reason };
  await audit(database, request, { action: 'LOGIN_FAILED', entity: 'user', entityId, details });
}

function newSession(request: FastifyRequest, { id: userId }: Account, secondFactor: boolean): Session {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000);
  const times = { startedAt: now, lastUsedAt: now, expiresAt };
  return { id: crypto.randomUUID(), userId, ...times, ...clientOf(request), secondFactor };
}

function clientOf({ ip, headers }: FastifyRequest): { address: string; userAgent: string } {
  const userAgent = (headers['user-agent'] ?? '').replaceAll('\0', '').slice(0, MAX_USER_AGENT);
  return { address: ip, userAgent };
}

async function newRefreshToken(
  database: Database,
  { id, sessionVersion }: Account,
  session: Session,
): Promise<string> {
  const { secret, hash } = newSecret();
  const { id: sessionId, expiresAt } = session;
  await insertRefreshToken(database, { hash, sessionId, userId: id, sessionVersion, expiresAt });
  return secret;
}

async function refreshTokenUser(database: Database, request: FastifyRequest): Promise<number | undefined> {
  const token = request.cookies[REFRESH_COOKIE];
  return token === undefined ? undefined : findRefreshTokenUser(database, secretHash(token), new Date());
}

type Exchanged =
  | { account: Account; session: Session; secret: string; reused?: undefined }
  | { account?: undefined; session?: undefined; secret?: undefined; reused?: number };

/**
 * Takes a refresh token for its successor. One that was used before, and not just now, was stolen or copied: then
 * every session of the user ends (RFC 9700 §4.14.2).
 *
 * @returns without an account when the token is not good; `reused` is the user whose sessions ended
 */
async function exchange(database: Database, request: FastifyRequest): Promise<Exchanged> {
  const now = new Date();
  const userId = await refreshTokenUser(database, request);
  if (userId === undefined) return {};
  const account = await lockAccount(database, userId);
  const hash = secretHash(request.cookies[REFRESH_COOKIE] as string);
  const kept = await lockRefreshToken(database, hash);
  if (!kept || kept.session.expiresAt <= now) return {};
  if (account?.status !== 'ACTIVE' || account.sessionVersion !== kept.sessionVersion) return {};
  if (kept.usedAt && now.getTime() - kept.usedAt.getTime() > GRACE_MS) {
    await endSessions(database, userId, { resets: false });
    const deed = { action: 'REFRESH_TOKEN_REUSED', entity: 'user', entityId: userId, userId: null };
    await audit(database, request, deed);
    return { reused: userId };
  }
  if (!kept.usedAt) await markRefreshTokenUsed(database, hash, now);
  const session = { ...kept.session, lastUsedAt: now, ...clientOf(request) };
  await touchSession(database, session);
  return { account, session, secret: await newRefreshToken(database, account, session) };
}
