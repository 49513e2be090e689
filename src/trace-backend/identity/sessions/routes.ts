import type pg from 'pg';
import type { Static } from 'typebox';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../base/access/authentication.ts';
import { audit } from '../../base/audit/audit.ts';
import { ok } from '../../base/contract/envelope.ts';
import { ACCESS_SECONDS } from '../../base/signing-keys/keys.ts';
import { asUser, type UserCompanies } from '../users/user.ts';
import { type Cookies, clientOf, REFRESH_COOKIE } from './cookies.ts';
import type { Endings } from './endings.ts';
import {
  endSessionSchema,
  listSessionsSchema,
  loginSchema,
  logoutSchema,
  refreshSchema,
  refreshTokenSchema,
  type Session,
  tokenSchema,
} from './schemas.ts';
import type { LoggedIn, Sessions } from './sessions.ts';
import { deleteSession, listSessions, MAX_SESSIONS, type Session as SessionRow } from './store.ts';

interface SessionsContext {
  pool: pg.Pool;
  sessions: Sessions;
  cookies: Cookies;
  endings: Endings;
  companiesOf: (userId: number) => Promise<UserCompanies>;
}

export function registerSessions(app: Server, context: SessionsContext): void {
  const { sessions, cookies, companiesOf } = context;

  app.post(
    '/api/user/login',
    {
      config: { access: 'open', guarded: true, rateLimit: { max: 60, timeWindow: 60_000 } },
      schema: loginSchema,
    },
    async (request, reply) => {
      const { account, tokens } = await sessions.login(clientOf(request), request.body);
      cookies.set(reply, tokens);
      return ok(asUser(account, await companiesOf(account.id)));
    },
  );

  app.post(
    '/api/user/refresh_authentication',
    { config: { access: 'open' }, schema: refreshSchema },
    async (request, reply) => {
      const { account, tokens } = await sessions.refresh(clientOf(request), request.cookies[REFRESH_COOKIE]);
      cookies.set(reply, tokens);
      return ok(asUser(account, await companiesOf(account.id)));
    },
  );

  app.post(
    '/api/user/logout',
    { config: { access: 'optional-user', keyScope: 'none' }, schema: logoutSchema },
    async (request, reply) => {
      const refreshToken = request.cookies[REFRESH_COOKIE];
      const wasLoggedIn = await sessions.logout(request, refreshToken, request.query.everywhere ?? true);
      cookies.clear(reply);
      if (!wasLoggedIn) throw new Problem('session.none');
      return { status: 'OK' as const };
    },
  );

  registerAppTokens(app, context);
  registerSingleSessions(app, context);
}

/** Logins of apps, which keep their tokens themselves. */
function registerAppTokens(app: Server, { sessions, companiesOf }: SessionsContext): void {
  const config = { access: 'open', guarded: true, rateLimit: { max: 60, timeWindow: 60_000 } } as const;
  const answer = async ({ account, tokens: { access, refresh } }: LoggedIn) => ({
    access_token: access,
    token_type: 'Bearer' as const,
    expires_in: ACCESS_SECONDS,
    refresh_token: refresh.secret,
    refresh_expires_at: refresh.expiresAt.toISOString(),
    user: asUser(account, await companiesOf(account.id)),
  });

  app.post('/api/user/token', { config, schema: tokenSchema }, async request =>
    ok(await answer(await sessions.login(clientOf(request), request.body))),
  );

  app.post('/api/user/token/refresh', { config, schema: refreshTokenSchema }, async request =>
    ok(await answer(await sessions.refresh(clientOf(request), request.body.refresh_token))),
  );
}

function registerSingleSessions(app: Server, { pool, endings }: SessionsContext): void {
  app.get('/api/user/sessions', { config: { access: 'user' }, schema: listSessionsSchema }, async request => {
    const caller = callerOf(request);
    const sessions = await listSessions(pool, caller.id, new Date());
    const items = sessions.map(session => asItem(session, caller.sessionId));
    return ok({ items, count: items.length, offset: 0, limit: MAX_SESSIONS });
  });

  app.delete(
    '/api/user/sessions/:id',
    { config: { access: 'user', keyScope: 'none' }, schema: endSessionSchema },
    async request => {
      const { id: userId } = callerOf(request);
      const { id } = request.params;
      await transaction(pool, async database => {
        if (!(await deleteSession(database, userId, id))) {
          throw new Problem('session.unknown');
        }
        await audit(database, request, { action: 'END_SESSION', entity: 'user', entityId: userId });
      });
      endings.notify(userId);
      return { status: 'OK' as const };
    },
  );
}

function asItem(session: SessionRow, current: string | undefined): Static<typeof Session> {
  const { id, address, userAgent, secondFactor, startedAt, lastUsedAt, expiresAt } = session;
  return {
    id,
    startedAt: startedAt.toISOString(),
    lastUsedAt: lastUsedAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    address,
    userAgent,
    secondFactor,
    current: id === current,
  };
}
