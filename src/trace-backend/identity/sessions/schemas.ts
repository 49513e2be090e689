import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';
import { Done, envelope, failureAnswers } from '../../base/contract/envelope.ts';
import { DateTime } from '../../base/contract/schemas.ts';
import { ACCESS_SECONDS } from '../../base/signing-keys/keys.ts';
import { Code, User } from '../users/schemas.ts';
import { MAX_SESSIONS } from './store.ts';

export const Login = named(
  'Login',
  Type.Object({
    username: Type.String({ maxLength: 320, description: 'email address', examples: ['ana@example.org'] }),
    password: Type.String({ maxLength: 1024, examples: ['correct horse battery staple'] }),
    code: Type.Optional(Code),
  }),
);

/** Any text is accepted in a path; one that is not a UUID is not found. */
const SessionId = Type.String({
  minLength: 1,
  maxLength: 64,
  description: 'id of the session',
  examples: ['0b2d2c52-1b1c-4a53-9c1f-6f3c2d1e0a99'],
});

export const Session = named(
  'Session',
  Type.Object({
    id: SessionId,
    startedAt: DateTime,
    lastUsedAt: { ...DateTime, description: 'last refresh or login' },
    expiresAt: { ...DateTime, description: 'end of the session, even if it is refreshed' },
    address: Type.String({ description: 'last client address', examples: ['192.0.2.7'] }),
    userAgent: Type.String({ description: 'last client program', examples: ['Mozilla/5.0'] }),
    secondFactor: Type.Boolean({ description: 'whether the login used a second factor' }),
    current: Type.Boolean({ description: "whether this is the caller's session" }),
  }),
);

export const Refresh = Type.Object({
  refresh_token: Type.String({ maxLength: 200, description: 'from the last answer; each works once' }),
});

const AppTokens = named(
  'AppTokens',
  Type.Object({
    access_token: Type.String({ description: 'for `Authorization: Bearer`, at both services' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({
      description: 'seconds until the access token expires',
      examples: [ACCESS_SECONDS],
    }),
    refresh_token: Type.String({ description: 'can be exchanged for new tokens once' }),
    refresh_expires_at: { ...DateTime, description: 'when the session ends, even if it is refreshed' },
    user: User,
  }),
);

const withCookies = {
  'set-cookie': Type.String({
    description: 'trace-accessToken for an hour, and trace-refreshToken for the rest of the 30 days',
  }),
};

export const loginSchema = {
  operationId: 'logIn',
  tags: ['User'],
  summary: 'Log in',
  description:
    'Sets the cookie trace-accessToken for an hour; secured calls need it. Returns 429 after 10 failures for one ' +
    'account from one address (IPv6: /64) within 15 minutes, and after 100 from all addresses; addresses that ' +
    'the user has logged in from within 30 days are exempt from the latter. A user has at most 100 sessions: a ' +
    'new one replaces the least recently used.',
  body: Login,
  response: { 200: { ...envelope(User, 'the user'), headers: withCookies }, ...failureAnswers(401) },
};

export const tokenSchema = {
  operationId: 'createTokens',
  tags: ['User'],
  summary: 'Log in an app',
  description:
    'Like POST /api/user/login, with the same limits and second factor, but returns the tokens in the body with ' +
    'their OAuth 2.0 names and sets no cookie. Both services accept the access token as `Authorization: Bearer`. ' +
    'POST /api/user/token/refresh exchanges the refresh token.',
  body: Login,
  response: { 200: envelope(AppTokens, 'the tokens'), ...failureAnswers(401) },
};

export const refreshTokenSchema = {
  operationId: 'refreshTokens',
  tags: ['User'],
  summary: "Refresh an app's session",
  description:
    'Exchanges a refresh token for new tokens, until 30 days after the login. Each refresh token works once; ' +
    "reusing one later ends all of the user's sessions.",
  body: Refresh,
  response: { 200: envelope(AppTokens, 'the tokens'), ...failureAnswers(401) },
};

export const refreshSchema = {
  operationId: 'refreshSession',
  tags: ['User'],
  summary: 'Refresh a session',
  description:
    'Exchanges the cookie trace-refreshToken for new cookies, valid for another hour. Each refresh token works ' +
    'once, until 30 days after the login.',
  response: { 200: { ...envelope(User, 'the user'), headers: withCookies }, ...failureAnswers(401) },
};

export const logoutSchema = {
  operationId: 'logOut',
  tags: ['User'],
  summary: 'Log out',
  description:
    "Ends all of the user's sessions on all devices; with everywhere=false, only the current one. The cookie " +
    'trace-refreshToken is sufficient. DELETE /api/user/sessions/{id} ends another session.',
  querystring: Type.Object({ everywhere: Type.Optional(Type.Boolean({ default: true })) }),
  response: { 200: Done, ...failureAnswers(400, 401) },
};

export const listSessionsSchema = {
  operationId: 'listSessions',
  tags: ['User'],
  summary: "List the caller's sessions",
  description: 'Most recently used first.',
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
};

export const endSessionSchema = {
  operationId: 'endSession',
  tags: ['User'],
  summary: 'End one session',
  description: 'Its tokens expire at once.',
  params: Type.Object({ id: SessionId }),
  response: { 200: Done, ...failureAnswers(401, 404) },
};
