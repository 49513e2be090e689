import cookie from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import type pg from 'pg';
import { coalesce } from '../../platform/concurrency/coalesce.ts';
import { lru } from '../../platform/concurrency/lru.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import type { TokenCheck } from '../../platform/tokens/tokens.ts';
import { ACCESS_COOKIE } from '../accounts/sessions/cookies.ts';
import { findSessions, type Role, type Session } from '../accounts/users/store.ts';

/** Who may call a route: anyone, any user who is logged in and active, or administrators. */
export type Access = 'open' | 'user' | 'regional-admin' | 'system-admin';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every route of the trace backend states who may call it. */
    access?: Access;
  }
  interface FastifyRequest {
    /** The user who is logged in; on open routes undefined. */
    caller: Caller | undefined;
  }
}

export interface Caller {
  id: number;
  role: Role;
}

const RANK: Record<Role, number> = { USER: 0, REGIONAL_ADMIN: 1, SYSTEM_ADMIN: 2 };
const NEEDED: Record<Exclude<Access, 'open'>, number> = { user: 0, 'regional-admin': 1, 'system-admin': 2 };

/** Tokens whose signature was found good are remembered, so that it is reckoned once: as many as this. */
const REMEMBERED_TOKENS = 10_000;
/** Sessions that one statement looks up, at most. */
const SESSIONS_AT_ONCE = 200;

/**
 * Has every route state who may call it, and every request show that it is from one of them: by the access cookie,
 * whose user must still be active and whose session must not have been ended since. That is asked of the database
 * each time, so a deactivated user is out at once, in every process.
 */
export async function authenticate(app: Server, pool: pg.Pool, check: TokenCheck): Promise<void> {
  await app.register(cookie);
  app.decorateRequest('caller', undefined);
  app.addHook('onRoute', route => {
    const { config, url } = route;
    if (config?.access === undefined && config?.open === undefined) {
      throw new Error(`the route ${url} does not say who may call it: config.access`);
    }
    if (config.access === 'open') route.config = { ...config, open: true };
    if (config.access === 'open' && route.schema) route.schema.security = [];
  });

  const claimsOf = rememberClaims(check);
  const sessionOf = coalesce<number, Session | undefined>(ids => findSessions(pool, ids), {
    max: SESSIONS_AT_ONCE,
  });
  // Before the body is read: a stranger's upload is refused at its first line.
  app.addHook('onRequest', async request => {
    const { access } = request.routeOptions.config;
    if (access === undefined || access === 'open') return;
    const token = request.cookies[ACCESS_COOKIE];
    if (!token) throw new Problem('unauthenticated', 'log in first: POST /api/user/login');
    const claims = await claimsOf(token);
    const session = await sessionOf(Number(claims.sub));
    if (session?.status !== 'ACTIVE' || session.version !== claims.ver) {
      throw new Problem('unauthenticated', 'the session has ended; log in again');
    }
    request.caller = { id: session.id, role: session.role };
    if (RANK[session.role] < NEEDED[access]) {
      throw new Problem(
        'forbidden',
        `this is for a ${access === 'system-admin' ? 'SYSTEM_ADMIN' : 'REGIONAL_ADMIN or SYSTEM_ADMIN'}`,
      );
    }
  });
}

function rememberClaims(check: TokenCheck): TokenCheck {
  const good = lru<JWTPayload>(REMEMBERED_TOKENS);
  return async token => {
    const known = good.get(token);
    if (known && (known.exp as number) * 1000 > Date.now()) return known;
    const claims = await check(token);
    if (claims.type !== 'access') throw new Problem('unauthenticated', 'the token is not an access token');
    good.set(token, claims);
    return claims;
  };
}

/** The user who makes a request to a route that is not open. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.url} is open and has no caller`);
  return request.caller;
}
