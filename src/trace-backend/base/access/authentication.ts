import cookie from '@fastify/cookie';
import type { FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import {
  allows,
  apiKeyHash,
  looksLikeApiKey,
  missingScope,
  neededScope,
  type Scope,
} from '../../../platform/tokens/api-key.ts';
import { rememberingCheck, type TokenCheck } from '../../../platform/tokens/tokens.ts';
import { type AuditEvent, audit } from '../audit/audit.ts';
import type { Role } from './role.ts';
import { type Access, isAdministrative, roleOf } from './rules.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The access rule of the route; every route of the trace backend names one. */
    access?: Access;
    /** Whether users who have not proved a required second factor yet may call it. */
    beforeSecondFactor?: boolean;
  }
  interface FastifyInstance {
    /** the rules of the routes, by method and path */
    accessRules: Map<string, Access>;
  }
  interface FastifyRequest {
    /** The logged-in user; undefined on open routes. */
    caller: Caller | undefined;
  }
}

export interface Caller {
  id: number;
  /** USER for a key without the scope admin */
  role: Role;
  /** undefined for a key */
  sessionId: string | undefined;
  /** whether the login proved a second factor; for a key, the login that created it */
  secondFactor: boolean;
}

const RANK: Record<Role, number> = { USER: 0, REGIONAL_ADMIN: 1, SYSTEM_ADMIN: 2 };

/** Maximum bytes of a request body on routes that anyone may call. */
const OPEN_BODY_BYTES = 16 * 1024;

/** The session that an access token names, and its user. */
export interface AuthenticatedSession {
  userId: number;
  role: Role;
  secondFactor: boolean;
}

/** Finds the session that one of our access tokens names; undefined when it has ended. */
export type FindSession = (claims: JWTPayload) => Promise<AuthenticatedSession | undefined>;

/** A valid key for programs, and its user. */
interface AuthenticatedKey extends AuthenticatedSession {
  scopes: readonly Scope[];
  expiresAt: Date;
}

/** Finds a key for programs by its SHA-256; undefined if it is not valid. */
export type FindKey = (hash: Buffer) => Promise<AuthenticatedKey | undefined>;

interface AuthenticationContext {
  pool: pg.Pool;
  check: TokenCheck;
  findSession: FindSession;
  findKey: FindKey;
  /** name of the cookie that holds the access token */
  cookieName: string;
  /** whether a session must prove a second factor before it may do anything else */
  mustProveFactor: (session: AuthenticatedSession) => boolean;
}

/**
 * Requires every route to name its access rule, and checks every request: its access token, in `Authorization: Bearer`
 * or in the cookie, must belong to an active user and a session that has not ended; or its key for programs must be
 * valid and have the scope that the route needs.
 */
export async function authenticate(app: Server, context: AuthenticationContext): Promise<void> {
  await app.register(cookie);
  app.decorateRequest('caller', undefined);
  const rules = new Map<string, Access>();
  app.decorate('accessRules', rules);
  app.addHook('onRoute', route => {
    const { config, url, method } = route;
    if (config?.access === undefined && config?.open === undefined) {
      throw new Error(`the route ${url} does not say who may call it: config.access`);
    }
    const { access } = config;
    if (access !== undefined) for (const each of [method].flat()) rules.set(`${each} ${url}`, access);
    const isOpen = config.open === true || (access !== undefined && roleOf(access) === undefined);
    const isPersonal = !isOpen || url.startsWith('/api/user/');
    route.config = { ...config, ...(isOpen && { open: true }), ...(isPersonal && { personal: true }) };
    if (!isOpen) return;
    route.bodyLimit ??= OPEN_BODY_BYTES;
    if (route.schema) route.schema.security = [];
  });

  const identify = identifier(context);
  // Before the body is read, so that an upload without a login is refused early.
  app.addHook('onRequest', async request => {
    const { access } = request.routeOptions.config;
    if (access === undefined || access === 'open') return;
    if (access === 'optional-user') {
      request.caller = await identify(request).catch(ignoreUnauthenticated);
      return;
    }
    request.caller = await identify(request);
    if (RANK[request.caller.role] < RANK[roleOf(access) ?? 'USER']) {
      throw new Problem(access === 'system-admin' ? 'user.not_system_admin' : 'user.not_admin');
    }
  });
  auditRefusals(app, context.pool);
}

/** Identifies the sender of a request by its token or key. */
function identifier({
  check,
  findSession,
  findKey,
  cookieName,
  mustProveFactor,
}: AuthenticationContext): (request: FastifyRequest) => Promise<Caller> {
  const claimsOf = rememberingCheck(check);
  async function identify(request: FastifyRequest): Promise<Caller> {
    const bearer = bearerToken(request);
    if (bearer !== undefined && looksLikeApiKey(bearer)) return identifyKey(request, bearer);
    const token = bearer ?? request.cookies[cookieName];
    if (!token) throw new Problem('session.required');
    const claims = await claimsOf(token);
    if (claims.type !== 'access') throw new Problem('token.other_kind');
    const session = await findSession(claims);
    if (!session) throw new Problem('session.ended');
    checkFactor(request, session);
    const { userId: id, role, secondFactor } = session;
    return { id, role, secondFactor, sessionId: claims.sid as string };
  }

  async function identifyKey(request: FastifyRequest, token: string): Promise<Caller> {
    const hash = apiKeyHash(token);
    const key = hash && (await findKey(hash));
    if (!key) throw new Problem('key.invalid');
    checkFactor(request, key);
    const { userId: id, secondFactor } = key;
    const caller = { id, role: roleOfKey(key), secondFactor, sessionId: undefined };
    const needed = scopeOf(request);
    if (allows(key.scopes, needed)) return caller;
    // Set here, so that the refusal is audited as the user's.
    request.caller = caller;
    throw new Problem([missingScope(needed)]);
  }

  function checkFactor(request: FastifyRequest, session: AuthenticatedSession): void {
    const { beforeSecondFactor, access } = request.routeOptions.config;
    if (mustProveFactor(session) && !beforeSecondFactor && access !== 'optional-user') {
      throw new Problem('second_factor.required', { role: session.role });
    }
  }
  return identify;
}

/** The bearer token of a request; other schemes are for proxies in between and are ignored. */
function bearerToken({ headers: { authorization } }: FastifyRequest): string | undefined {
  return authorization === undefined ? undefined : /^Bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** The scope that a key needs for a request: `admin` on the routes of administrators. */
function scopeOf({ method, routeOptions: { config } }: FastifyRequest): Scope | 'none' {
  return isAdministrative(config.access) ? 'admin' : neededScope(method, config.keyScope);
}

/** The role that a key acts in: administrators' rights need the scope admin everywhere. */
export function roleOfKey({ role, scopes }: Pick<AuthenticatedKey, 'role' | 'scopes'>): Role {
  return allows(scopes, 'admin') ? role : 'USER';
}

function ignoreUnauthenticated(error: unknown): undefined {
  if (!(error instanceof Problem && error.code === 'unauthenticated')) throw error;
}

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Audits refused requests: every refused change, and every refused request for administrators. */
function auditRefusals(app: Server, pool: pg.Pool): void {
  app.addHook('onError', async (request, _reply, error) => {
    if (!request.caller || !(error instanceof Problem) || error.code !== 'forbidden') return;
    const { access } = request.routeOptions.config;
    if (READING.has(request.method) && !isAdministrative(access)) return;
    const { method, routeOptions, params } = request;
    const { action } = (params ?? {}) as { action?: string };
    const details = { method, route: routeOptions.url, ...(action && { action }), reason: error.message };
    const event: AuditEvent = { action: 'REFUSED', entity: 'user', entityId: request.caller.id, details };
    await audit(pool, request, event).catch(cause =>
      request.log.error({ err: cause }, 'could not write to the audit'),
    );
  });
}

/** The session of a caller, on a route that accepts no key for programs. */
export function sessionIdOf({ id, sessionId }: Caller): string {
  if (sessionId === undefined) throw new Error(`user ${id} came with a key, which has no session`);
  return sessionId;
}

/** The user who makes a request to a route that is not open. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw new Error(`${request.url} is open and has no caller`);
  return request.caller;
}
