import type { IncomingMessage } from 'node:http';
import { Problem } from '../platform/http/problems.ts';
import { hasBearer } from '../platform/tokens/bearer.ts';
import { ACCESS_COOKIE } from '../trace-backend/identity/sessions/cookies.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The token in the session cookie: base64url and dots. */
const TOKEN = new RegExp(`(?:^|;\\s*)${ACCESS_COOKIE}=([\\w.-]+)`);

/**
 * Refuses changes that do not come from a page of the console. Browsers send a user's cookies with requests of any page,
 * and say with every change which page it comes from: in Origin (Fetch standard §3.2), and in Sec-Fetch-Site, which no
 * script can set. Programs that send a Bearer token of their own need neither; their cookies are dropped.
 *
 * @param own the origin of the console, as the browser knows it
 * @throws Problem forbidden
 */
export function checkOrigin(
  { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>,
  own: string,
): void {
  if (hasBearer(headers)) {
    delete headers.cookie;
    return;
  }
  if (READING.has(method ?? '')) return;
  const { origin, 'sec-fetch-site': site } = headers;
  if (origin !== own || (site !== undefined && site !== 'same-origin')) {
    throw new Problem('console.foreign_origin');
  }
}

/**
 * Replaces the session cookie by the token in it, which the packet service takes in `Authorization: Bearer`.
 *
 * @throws Problem unauthenticated without a session: the packet service would take the request for an anonymous one
 */
export function bearToken({ headers }: Pick<IncomingMessage, 'headers'>): void {
  if (!hasBearer(headers)) {
    const token = TOKEN.exec(headers.cookie ?? '')?.[1];
    if (token === undefined) throw new Problem('console.not_logged_in');
    headers.authorization = `Bearer ${token}`;
  }
  delete headers.cookie;
}

/** The path of the refresh token's cookie at the trace backend. */
const COOKIE_PATH = /; Path=\/api\//i;

/**
 * A Set-Cookie line of the trace backend for the console: its path is below /trace, other sites cannot have it sent, and
 * it stays within https where the console is reached by it.
 */
export function cookieForConsole(line: string, isSecure: boolean): string {
  return [
    line.replace(COOKIE_PATH, '; Path=/trace/api/'),
    /; SameSite=/i.test(line) ? '' : '; SameSite=Strict',
    isSecure && !/; Secure/i.test(line) ? '; Secure' : '',
  ].join('');
}
