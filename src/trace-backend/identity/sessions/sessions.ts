import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { newSecret, secretHash } from '../../../platform/tokens/secret.ts';
import type { SecretBox } from '../../../platform/tokens/secret-box.ts';
import { type Caller, sessionIdOf } from '../../base/access/authentication.ts';
import type { Visitor } from '../../base/access/requester.ts';
import { type AuditEvent, audit } from '../../base/audit/audit.ts';
import type { Keys } from '../../base/signing-keys/keys.ts';
import { limitLoginAttempts, noteLogin } from '../attempts/limits.ts';
import { decideLoginFailure, deleteLoginFailures, type LoginAttempt } from '../attempts/store.ts';
import { checkNoFactor, proveFactor, requiredFactor } from '../second-factor/factor.ts';
import type { Requirement } from '../second-factor/requirement.ts';
import { emailKeyOf } from '../users/email.ts';
import type { Passwords } from '../users/passwords.ts';
import { type Account, findAccount, findAccountById, lockAccount } from '../users/store.ts';
import { type Client, SESSION_SECONDS, type Tokens } from './cookies.ts';
import { type Endings, endSessions } from './endings.ts';
import {
  deleteSession,
  findRefreshTokenUser,
  insertRefreshToken,
  insertSession,
  lockRefreshToken,
  markRefreshTokenUsed,
  type Session,
  touchSession,
} from './store.ts';

/** A used refresh token stays valid for a moment, because the first answer may be lost on a bad network. */
const GRACE_MS = 60_000;
/** Characters of a User-Agent that are stored. */
const MAX_USER_AGENT = 200;

interface Credentials {
  username: string;
  password: string;
  /** of the second factor, if the account has one */
  code?: string | undefined;
}

/** A user and the tokens of one of their sessions. */
export interface LoggedIn {
  account: Account;
  tokens: Required<Tokens>;
}

/** Logins and sessions. */
export interface Sessions {
  /** @throws Problem unauthenticated, too_many_requests */
  login(client: Client, credentials: Credentials): Promise<LoggedIn>;
  /** Begins a new session of a user after all earlier ones have ended. */
  beginAnew(client: Client, user: Account, secondFactor: boolean): Promise<Tokens>;
  /**
   * Begins a session of a user who has set a new password by a mailed token, if the account is active and no second
   * factor is due.
   */
  loginAfterReset(client: Client, userId: number): Promise<Tokens | undefined>;
  /** An access token for a session that has proven a second factor. */
  signAnew(caller: Caller): Promise<Tokens>;
  /** @throws Problem unauthenticated */
  refresh(client: Client, refreshToken: string | undefined): Promise<LoggedIn>;
  /**
   * Ends the session of the caller, or else of the refresh token; `everywhere` ends every session of the user.
   *
   * @returns whether there was one
   */
  logout(visitor: Visitor, refreshToken: string | undefined, everywhere: boolean): Promise<boolean>;
}

interface SessionContext {
  pool: pg.Pool;
  passwords: Passwords;
  box: SecretBox;
  requirement: Requirement;
  keys: Keys;
  endings: Endings;
}

export function openSessions(context: SessionContext): Sessions {
  const { pool, keys, endings, requirement } = context;
  const accessToken = (user: Account, { id: sid, secondFactor }: Pick<Session, 'id' | 'secondFactor'>) => {
    const { id, email, role, sessionVersion } = user;
    const claims = { sub: String(id), type: 'access', email, role, ver: sessionVersion, sid };
    // External packet services do not support second factors, but refuse users who are not activated.
    const isUnmet = requirement.isUnmet({ role, secondFactor });
    return keys.sign({ ...claims, ...(isUnmet && { is_activated: false, second_factor: 'missing' }) });
  };

  /** Begins a session. Its token is signed before the transaction, which must not wait for another connection. */
  async function begin(
    client: Client,
    user: Account,
    secondFactor: boolean,
    alsoDo: (database: Database) => Promise<void>,
  ): Promise<Required<Tokens>> {
    const session = newSession(client, user, secondFactor);
    const access = await accessToken(user, session);
    const secret = await transaction(pool, async database => {
      await alsoDo(database);
      await insertSession(database, session);
      return newRefreshToken(database, user, session);
    });
    return { access, refresh: { secret, expiresAt: session.expiresAt } };
  }

  return {
    async login(client, credentials) {
      const { account, attempt, isProven } = await checkLogin(context, client, credentials);
      const tokens = await begin(client, account, isProven, async database => {
        if (!isProven) await recheckNoFactor(database, account.id);
        await noteSession(database, client, account.id, attempt);
      });
      return { account, tokens };
    },
    beginAnew: (client, user, secondFactor) => begin(client, user, secondFactor, async () => {}),
    async loginAfterReset(client, userId) {
      const user = await findUserWithoutFactor(context, userId);
      if (!user) return undefined;
      return begin(client, user, false, async database => {
        await recheckNoFactor(database, userId);
        await noteSession(database, client, userId);
      });
    },
    async signAnew(caller) {
      const { id } = caller;
      const user = await findAccountById(pool, id);
      if (!user) throw new Problem('session.ended');
      return { access: await accessToken(user, { id: sessionIdOf(caller), secondFactor: true }) };
    },
    async refresh(client, refreshToken) {
      const { account, session, secret, reused } = await transaction(pool, database =>
        exchange(database, client, refreshToken),
      );
      if (reused !== undefined) endings.notify(reused);
      if (!account) throw new Problem('session.ended');
      const access = await accessToken(account, session);
      return { account, tokens: { access, refresh: { secret, expiresAt: session.expiresAt } } };
    },
    async logout(visitor, refreshToken, everywhere) {
      const userId = visitor.caller?.id ?? (await refreshTokenUser(pool, refreshToken));
      if (userId === undefined) return false;
      await transaction(pool, async database => {
        await lockAccount(database, userId);
        if (everywhere) await endSessions(database, userId, { resets: false });
        else await endSingle(database, userId, visitor.caller?.sessionId, refreshToken);
        await audit(database, visitor, { action: 'LOGOUT', entity: 'user', entityId: userId, userId });
      });
      endings.notify(userId);
      return true;
    },
  };
}

/** A user, if the account is active and a login needs no second factor. */
async function findUserWithoutFactor(
  { pool, requirement }: Pick<SessionContext, 'pool' | 'requirement'>,
  userId: number,
): Promise<Account | undefined> {
  const user = await findAccountById(pool, userId);
  if (user?.status !== 'ACTIVE' || requirement.needs(user.role)) return undefined;
  return (await requiredFactor(pool, userId)) ? undefined : user;
}

/** Refuses a login without a second factor if one was confirmed meanwhile. */
async function recheckNoFactor(database: Database, userId: number): Promise<void> {
  await lockAccount(database, userId);
  await checkNoFactor(database, userId);
}

/** Records a login, and its attempt if it used a password. */
async function noteSession(
  database: Database,
  client: Client,
  userId: number,
  attempt?: LoginAttempt,
): Promise<void> {
  if (attempt) await noteLogin(database, attempt, userId);
  await audit(database, client, { action: 'LOGIN', entity: 'user', entityId: userId, userId });
}

const INACTIVE = {
  UNCONFIRMED: 'login.address_unconfirmed',
  CONFIRMED_EMAIL: 'login.not_activated',
  DEACTIVATED: 'login.deactivated',
} as const;

/**
 * Checks a login: the password, whether the account is active, and the second factor if there is one.
 *
 * @throws Problem unauthenticated, too_many_requests
 */
async function checkLogin(
  context: SessionContext,
  client: Client,
  { username, password, code }: Credentials,
): Promise<{ account: Account; attempt: LoginAttempt; isProven: boolean }> {
  const { pool, passwords } = context;
  const key = emailKeyOf(username);
  const account = await findAccount(pool, key);
  const attempt = await limitLoginAttempts(pool, key, account?.id, client.ip);
  const isCorrect = await passwords.check(account?.password, password);
  if (!isCorrect || !account) {
    await decideLoginFailure(pool, attempt);
    await noteFailure(pool, client, account, attempt, 'password');
    throw new Problem('login.wrong');
  }
  if (account.status !== 'ACTIVE') {
    await deleteLoginFailures(pool, attempt);
    await noteFailure(pool, client, account, attempt, account.status);
    throw new Problem(INACTIVE[account.status]);
  }
  const isProven = await checkSecondFactor(context, client, { account, attempt, code });
  return { account, attempt, isProven };
}

/**
 * Checks the second factor of a login with a correct password, if the account has one.
 *
 * @returns whether there is one
 * @throws Problem unauthenticated, too_many_requests
 */
async function checkSecondFactor(
  { pool, box }: SessionContext,
  client: Client,
  { account, attempt, code }: { account: Account; attempt: LoginAttempt; code: string | undefined },
): Promise<boolean> {
  const factor = await requiredFactor(pool, account.id);
  if (!factor) return false;
  if (code === undefined) {
    // This is neither a failure nor a success, which would clear earlier failures.
    await deleteLoginFailures(pool, attempt);
    throw new Problem('second_factor.code_required', { field: 'code' });
  }
  if (!(await proveFactor({ pool, box }, factor, code))) {
    await decideLoginFailure(pool, attempt);
    await noteFailure(pool, client, account, attempt, 'code');
    throw new Problem('login.code_wrong', { field: 'code' });
  }
  return true;
}

/** Audits a failed login; an unknown account is identified by the hash of the name entered. */
async function noteFailure(
  database: Database,
  client: Client,
  account: Account | undefined,
  attempt: LoginAttempt,
  reason: string,
): Promise<void> {
  const entityId = account?.id ?? attempt.account.toString('hex').slice(0, 16);
  const details = { reason };
  await audit(database, client, { action: 'LOGIN_FAILED', entity: 'user', entityId, details });
}

function newSession(client: Client, { id: userId }: Account, secondFactor: boolean): Session {
  const now = new Date();
  const expiresAt = new Date(now.getTime() + SESSION_SECONDS * 1000);
  const times = { startedAt: now, lastUsedAt: now, expiresAt };
  return { id: crypto.randomUUID(), userId, ...times, ...clientFields(client), secondFactor };
}

function clientFields({ ip, userAgent = '' }: Client): { address: string; userAgent: string } {
  return { address: ip, userAgent: userAgent.replaceAll('\0', '').slice(0, MAX_USER_AGENT) };
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

async function refreshTokenUser(database: Database, token: string | undefined): Promise<number | undefined> {
  return token === undefined ? undefined : findRefreshTokenUser(database, secretHash(token), new Date());
}

/** Ends the session of the access token, or else of the refresh token. */
async function endSingle(
  database: Database,
  userId: number,
  accessSession: string | undefined,
  refreshToken = '',
): Promise<void> {
  const sessionId = accessSession ?? (await lockRefreshToken(database, secretHash(refreshToken)))?.session.id;
  if (sessionId !== undefined) await deleteSession(database, userId, sessionId);
}

type Exchanged =
  | { account: Account; session: Session; secret: string; reused?: undefined }
  | { account?: undefined; session?: undefined; secret?: undefined; reused?: number };

/**
 * Exchanges a refresh token for its successor. A token that is used again after `GRACE_MS` was stolen or copied: then
 * every session of the user ends (RFC 9700 §4.14.2).
 *
 * @returns without an account if the token is not valid; `reused` is the user whose sessions ended
 */
async function exchange(database: Database, client: Client, token: string | undefined): Promise<Exchanged> {
  const now = new Date();
  const userId = await refreshTokenUser(database, token);
  if (token === undefined || userId === undefined) return {};
  const account = await lockAccount(database, userId);
  const hash = secretHash(token);
  const stored = await lockRefreshToken(database, hash);
  if (!stored || stored.session.expiresAt <= now) return {};
  if (account?.status !== 'ACTIVE' || account.sessionVersion !== stored.sessionVersion) return {};
  if (stored.usedAt && now.getTime() - stored.usedAt.getTime() > GRACE_MS) {
    await endSessions(database, userId, { resets: false });
    const event: AuditEvent = {
      action: 'REFRESH_TOKEN_REUSED',
      entity: 'user',
      entityId: userId,
      userId: null,
    };
    await audit(database, client, event);
    return { reused: userId };
  }
  if (!stored.usedAt) await markRefreshTokenUsed(database, hash, now);
  const session = { ...stored.session, lastUsedAt: now, ...clientFields(client) };
  await touchSession(database, session);
  return { account, session, secret: await newRefreshToken(database, account, session) };
}
