import type { FastifyReply } from 'fastify';
import type { Settings } from '../../../platform/settings.ts';
import { ACCESS_SECONDS } from '../../keys/keys.ts';

export const ACCESS_COOKIE = 'trace-accessToken';
export const REFRESH_COOKIE = 'trace-refreshToken';
/** How long a refresh token is good for, in seconds. */
export const REFRESH_SECONDS = 30 * 24 * 3600;

/** The refresh token goes nowhere but to where it is used. */
const REFRESH_PATH = '/api/user';

/** The values of a session's two cookies. */
export interface Tokens {
  access: string;
  refresh: string;
}

/** The cookies of a session, set and taken away. */
export interface Cookies {
  set(reply: FastifyReply, tokens: Tokens): void;
  clear(reply: FastifyReply): void;
}

/** Cookies with the attributes that the interface document shows, in its order, then those that settings add. */
export function sessionCookies({
  COOKIE_SECURE,
  COOKIE_SAMESITE,
}: Pick<Settings, 'COOKIE_SECURE' | 'COOKIE_SAMESITE'>): Cookies {
  const sameSite = { unset: '', lax: '; SameSite=Lax', strict: '; SameSite=Strict', none: '; SameSite=None' };
  const further = `${COOKIE_SECURE ? '; Secure' : ''}${sameSite[COOKIE_SAMESITE]}`;
  // Both values are base64url and dots: nothing in them needs a cookie's quoting (RFC 6265 §4.1.1).
  const line = (name: string, value: string, path: string, seconds: number) =>
    `${name}=${value}; Path=${path}; Max-Age=${seconds}; ` +
    `Expires=${new Date(seconds === 0 ? 0 : Date.now() + seconds * 1000).toUTCString()}; HttpOnly${further}`;
  return {
    set(reply, { access, refresh }) {
      reply.header('set-cookie', [
        line(ACCESS_COOKIE, access, '/', ACCESS_SECONDS),
        line(REFRESH_COOKIE, refresh, REFRESH_PATH, REFRESH_SECONDS),
      ]);
    },
    clear(reply) {
      reply.header('set-cookie', [
        line(ACCESS_COOKIE, '', '/', 0),
        line(REFRESH_COOKIE, '', REFRESH_PATH, 0),
      ]);
    },
  };
}
