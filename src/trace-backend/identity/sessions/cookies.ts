import type { FastifyReply } from 'fastify';
import type { Settings } from '../../../platform/settings/settings.ts';
import { ACCESS_SECONDS } from '../../base/signing-keys/keys.ts';

export const ACCESS_COOKIE = 'trace-accessToken';
export const REFRESH_COOKIE = 'trace-refreshToken';
/** Lifetime of a session from its login, however often it is refreshed, in seconds. */
export const SESSION_SECONDS = 30 * 24 * 3600;

/** The refresh token is sent only to the routes that use it. */
const REFRESH_PATH = '/api/user';

/** The client of a request. */
export interface Client {
  /** client address */
  ip: string;
  /** User-Agent */
  userAgent: string | undefined;
}

export function clientOf({
  ip,
  headers,
}: {
  ip: string;
  headers: { 'user-agent'?: string | undefined };
}): Client {
  return { ip, userAgent: headers['user-agent'] };
}

/** The tokens of a session. */
export interface Tokens {
  access: string;
  /** with the end of the session; without a refresh token, the client's current one stays valid */
  refresh?: { secret: string; expiresAt: Date };
}

/** Sets and clears the cookies of a session. */
export interface Cookies {
  set(reply: FastifyReply, tokens: Tokens): void;
  /** Also clears the browser's cache, but not its storage, where unsent observations may wait. */
  clear(reply: FastifyReply): void;
}

type CookieSettings = Pick<Settings, 'COOKIE_SECURE' | 'COOKIE_SAMESITE' | 'TRACE_PUBLIC_URL'>;

/** Cookies with the attributes of the interface document, in its order, followed by those that settings add. */
export function sessionCookies({
  COOKIE_SECURE,
  COOKIE_SAMESITE,
  TRACE_PUBLIC_URL,
}: CookieSettings): Cookies {
  const secure =
    COOKIE_SECURE === 'auto' ? TRACE_PUBLIC_URL?.startsWith('https:') === true : COOKIE_SECURE === 'true';
  const sameSite = { unset: '', lax: '; SameSite=Lax', strict: '; SameSite=Strict', none: '; SameSite=None' };
  const further = `${secure ? '; Secure' : ''}${sameSite[COOKIE_SAMESITE]}`;
  // Both values consist of base64url and dots, which need no quoting (RFC 6265 §4.1.1).
  const line = (name: string, value: string, path: string, seconds: number) =>
    `${name}=${value}; Path=${path}; Max-Age=${seconds}; ` +
    `Expires=${new Date(seconds === 0 ? 0 : Date.now() + seconds * 1000).toUTCString()}; HttpOnly${further}`;
  return {
    set(reply, { access, refresh }) {
      const lines = [line(ACCESS_COOKIE, access, '/', ACCESS_SECONDS)];
      if (refresh) {
        const seconds = Math.max(1, Math.floor((refresh.expiresAt.getTime() - Date.now()) / 1000));
        lines.push(line(REFRESH_COOKIE, refresh.secret, REFRESH_PATH, seconds));
      }
      reply.header('set-cookie', lines);
    },
    clear(reply) {
      // https://www.w3.org/TR/clear-site-data/: browsers heed it only over https and on localhost.
      reply.header('clear-site-data', '"cache"');
      reply.header('set-cookie', [
        line(ACCESS_COOKIE, '', '/', 0),
        line(REFRESH_COOKIE, '', REFRESH_PATH, 0),
      ]);
    },
  };
}
