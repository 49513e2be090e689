import type pg from 'pg';
import { type Static, Type } from 'typebox';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { transaction } from '../../../platform/postgres/database.ts';
import { callerOf } from '../../access/authentication.ts';
import { audit } from '../../audit/audit.ts';
import { Done, envelope, failureAnswers, ok } from '../../contract/envelope.ts';
import { User } from '../users/schemas.ts';
import { asUser } from '../users/user.ts';
import type { Endings } from './endings.ts';
import { Login, Session, SessionId } from './schemas.ts';
import type { Sessions } from './sessions.ts';
import { deleteSession, listSessions, MAX_SESSIONS, type Session as SessionRow } from './store.ts';

const withCookies = {
  'set-cookie': Type.String({
    description:
      'trace-accessToken, the access token for an hour, and trace-refreshToken for what remains of 30 days',
  }),
};

interface SessionsContext {
  pool: pg.Pool;
  sessions: Sessions;
  endings: Endings;
  companiesOf: (userId: number) => Promise<number[]>;
}

export function registerSessions(app: Server, context: SessionsContext): void {
  const { sessions, companiesOf } = context;
  const tags = ['User'];

  app.post(
    '/api/user/login',
    {
      config: { access: 'open', guarded: true, rateLimit: { max: 60, timeWindow: 60_000 } },
      schema: {
        tags,
        summary: 'Log in',
        description:
          'Sets the cookie trace-accessToken, which secured calls need, for an hour. After 10 failures for one account from one address (IPv6: /64) within 15 minutes: 429; after 100 from anywhere too, except from addresses that the user logged in from within 30 days.',
        body: Login,
        response: { 200: { ...envelope(User, 'the user'), headers: withCookies }, ...failureAnswers(401) },
      },
    },
    async (request, reply) => {
      const user = await sessions.login(request, reply, request.body);
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );

  app.post(
    '/api/user/refresh_authentication',
    {
      config: { access: 'open' },
      schema: {
        tags,
        summary: 'Continue for another hour',
        description:
          'Exchanges the cookie trace-refreshToken for new cookies. Each is good once, until 30 days after the login.',
        response: { 200: { ...envelope(User, 'the user'), headers: withCookies }, ...failureAnswers(401) },
      },
    },
    async (request, reply) => {
      const user = await sessions.refresh(request, reply);
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );

  app.post(
    '/api/user/logout',
    {
      config: { access: 'known' },
      schema: {
        tags,
        summary: 'Log out',
        description:
          'Ends every session of the user, on every device. The cookie trace-refreshToken alone is enough. DELETE /api/user/sessions/{id} ends one session.',
        response: { 200: Done, ...failureAnswers(401) },
      },
    },
    async (request, reply) => {
      await sessions.logout(request, reply);
      return { status: 'OK' as const };
    },
  );

  registerSingleSessions(app, context);
}

function registerSingleSessions(app: Server, { pool, endings }: SessionsContext): void {
  const tags = ['User'];
  app.get(
    '/api/user/sessions',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Where the caller is logged in',
        description: 'The session used last comes first.',
        response: {
          200: envelope(
            Type.Object({
              items: Type.Array(Session, { maxItems: MAX_SESSIONS }),
              count: Type.Integer(),
              offset: Type.Integer(),
              limit: Type.Integer(),
            }),
            'the sessions',
          ),
          ...failureAnswers(401),
        },
      },
    },
    async request => {
      const caller = callerOf(request);
      const sessions = await listSessions(pool, caller.id, new Date());
      const items = sessions.map(session => asItem(session, caller.sessionId));
      return ok({ items, count: items.length, offset: 0, limit: MAX_SESSIONS });
    },
  );

  app.delete(
    '/api/user/sessions/:id',
    {
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'End one session',
        description: 'Its tokens end at once.',
        params: Type.Object({ id: SessionId }),
        response: { 200: Done, ...failureAnswers(401, 404) },
      },
    },
    async request => {
      const { id: userId } = callerOf(request);
      const { id } = request.params;
      await transaction(pool, async database => {
        if (!(await deleteSession(database, userId, id))) {
          throw new Problem('not_found', 'there is no such session');
        }
        await audit(database, request, { action: 'END_SESSION', entity: 'user', entityId: userId });
      });
      endings.tell(userId);
      return { status: 'OK' as const };
    },
  );
}

function asItem(session: SessionRow, current: string): Static<typeof Session> {
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
