import { Type } from 'typebox';
import type { Server } from '../../../platform/http/server.ts';
import { callerOf } from '../../access/authentication.ts';
import { Done, envelope, failureAnswers, ok } from '../../contract/envelope.ts';
import { User } from '../users/schemas.ts';
import { asUser } from '../users/user.ts';
import type { Sessions } from './sessions.ts';

const Login = Type.Object({
  username: Type.String({ maxLength: 320, description: 'e-mail address', examples: ['ana@example.org'] }),
  password: Type.String({ maxLength: 1024, examples: ['correct horse battery staple'] }),
});

const withCookies = {
  'set-cookie': Type.String({
    description: 'trace-accessToken, the access token for an hour, and trace-refreshToken for 30 days',
  }),
};

export function registerSessions(
  app: Server,
  { sessions, companiesOf }: { sessions: Sessions; companiesOf: (userId: number) => Promise<number[]> },
): void {
  const tags = ['User'];

  app.post(
    '/api/user/login',
    {
      config: { access: 'open', rateLimit: { max: 60, timeWindow: 60_000 } },
      schema: {
        tags,
        summary: 'Log in',
        description:
          'Sets the cookie trace-accessToken, which secured calls need, for an hour. After 10 failures for one account from one address within 15 minutes: 429.',
        body: Login,
        response: { 200: { ...envelope(User, 'the user'), headers: withCookies }, ...failureAnswers(401) },
      },
    },
    async (request, reply) => {
      const user = await sessions.login(request, reply, request.body.username, request.body.password);
      return ok(asUser(user, await companiesOf(user.id)));
    },
  );

  app.post(
    '/api/user/refresh_authentication',
    {
      config: { access: 'open' },
      schema: {
        tags,
        summary: 'Go on for another hour',
        description: 'Takes the cookie trace-refreshToken for new cookies. Each is good once.',
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
      config: { access: 'user' },
      schema: {
        tags,
        summary: 'Log out',
        description: 'Ends every session of the user, on every device.',
        response: { 200: Done, ...failureAnswers(401) },
      },
    },
    async (request, reply) => {
      await sessions.logout(request, reply, callerOf(request).id);
      return { status: 'OK' as const };
    },
  );
}
