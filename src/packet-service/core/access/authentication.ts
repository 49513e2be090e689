import type { FastifyRequest } from 'fastify';
import type { JSONWebKeySet, JWTPayload } from 'jose';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { Reason } from '../../../platform/http/reasons/catalogue.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { BreakerWatch } from '../../../platform/outbound/breaker-watch.ts';
import { type OutboundLimits, outbound } from '../../../platform/outbound/outbound.ts';
import { type Settings, SettingsError } from '../../../platform/settings/settings.ts';
import {
  allows,
  apiKeyHash,
  looksLikeApiKey,
  missingScope,
  neededScope,
} from '../../../platform/tokens/api-key.ts';
import {
  type Expected,
  keySetTokenCheck,
  rememberingCheck,
  secretTokenCheck,
  type TokenCheck,
} from '../../../platform/tokens/tokens.ts';
import {
  namesRegistry,
  namesTraceBackend,
  type Refusal,
  type UserRegistry,
} from '../../../platform/tokens/user-registry.ts';
import { MAX_USER } from '../contract/schemas.ts';
import { type FindKeyHolder, keyHolders } from './key-holders.ts';
import type { AskRegistry } from './registry-client.ts';
import { type OnFirstToken, type TokenUsers, tokenUsers } from './token-users.ts';

/** Milliseconds after which the keys of a registry in this process are fetched again. */
const OWN_REGISTRY_MS = 60_000;

/** The SHA-256 of the key, in the claims of a request with a key for programs: no token can have it. */
const KEY = Symbol('key');
type Claims = JWTPayload & { [KEY]?: Buffer };

export interface Authentication {
  /** the users who have sent a valid token */
  tokenUsers: TokenUsers;
  /** Why the token or key of a request, by its claims, no longer counts; undefined if it does, as far as known. */
  refusalOf: (claims: JWTPayload) => Promise<Refusal | undefined>;
  /** whether a request can have a valid token at all */
  checksTokens: boolean;
}

/** Dependencies of checking tokens. */
interface Checking {
  settings: Settings;
  pool: pg.Pool;
  /** the issuer of the tokens if the settings name no key */
  registry?: UserRegistry | undefined;
  /** the registry at USER_REGISTRY_URL */
  ask: AskRegistry | undefined;
  breakers?: BreakerWatch | undefined;
  /** called when a user's first token is recorded */
  onFirstToken: OnFirstToken;
}

/**
 * Checks each request's token, or key for programs, as AUTH_MODE says and sets `request.user`. With `off` tokens are
 * ignored; with `optional` one that is present must be valid; with `required` every route but those marked `open` needs
 * one. The user of every valid token is recorded; with `optional`, requests without a token are `request.anonymous`.
 *
 * @throws SettingsError when tokens are required and no key could check them
 */
export function authenticate(
  app: Server,
  { settings, pool, registry, ask, breakers, onFirstToken }: Checking,
): Authentication {
  const users = tokenUsers(pool, onFirstToken);
  app.decorateRequest('user', undefined).decorateRequest('claims', undefined);
  app.decorateRequest('anonymous', false);
  app.decorateRequest('isTokenUser', users.has);
  const findKeyHolder = keyHolders(ask, registry, app.log);
  const refusalOf = refusals(registry, findKeyHolder);
  if (settings.AUTH_MODE === 'off') return { tokenUsers: users, refusalOf, checksTokens: false };
  const check = tokenCheck(settings, registry, breakers);
  const hasRoles = rolesCount(settings);
  const required = settings.AUTH_MODE === 'required';
  // Before the body is read, so that an upload without a valid token is refused early. Most requests have no token, and
  // need no promise.
  app.addHook('onRequest', (request, _reply, done) => {
    const { authorization } = request.headers;
    const { open } = request.routeOptions.config;
    if (required && authorization === undefined && !open && !request.is404) {
      done(new Problem('token.missing'));
      return;
    }
    // Clients that poll or follow a mailed link may send credentials meant for another service.
    if (authorization === undefined || open) {
      request.anonymous = true;
      done();
      return;
    }
    identify(request, authorization).then(() => done(), done);
  });

  async function identify(request: FastifyRequest, authorization: string): Promise<void> {
    const token = bearerToken(authorization);
    if (looksLikeApiKey(token)) return identifyKey(request, token);
    if (!check) throw new Problem('token.not_checkable');
    const claims = await check(token);
    const user = userOf(claims);
    await users.keep(user);
    request.user = user;
    request.claims = hasRoles ? claims : withoutRole(claims);
  }

  async function identifyKey(request: FastifyRequest, key: string): Promise<void> {
    if (!findKeyHolder) throw new Problem('key.not_checkable');
    const hash = apiKeyHash(key);
    const holder = hash && (await findKeyHolder(hash));
    if (!holder) throw new Problem('key.invalid');
    const { userId, role, scopes, expiresAt, lacksFactor } = holder;
    if (lacksFactor) throw new Problem('key.second_factor_missing');
    const needed = neededScope(request.method, request.routeOptions.config.keyScope);
    if (!allows(scopes, needed)) throw new Problem([missingScope(needed)]);
    await users.keep(userId);
    request.user = userId;
    const claims: Claims = { sub: userId, exp: expiresAt.getTime() / 1000, [KEY]: hash };
    if (allows(scopes, 'admin')) claims.role = role;
    request.claims = claims;
  }
  return { tokenUsers: users, refusalOf, checksTokens: check !== undefined || findKeyHolder !== undefined };
}

/**
 * Whether the role in a token counts: only in those of a trace backend. What other registries write there, or let their
 * users write, gives no rights here.
 */
function rolesCount(settings: Settings): boolean {
  return !namesRegistry(settings) || namesTraceBackend(settings);
}

function withoutRole({ role: _, ...claims }: JWTPayload): JWTPayload {
  return claims;
}

function refusals(
  registry: UserRegistry | undefined,
  findKeyHolder: FindKeyHolder | undefined,
): Authentication['refusalOf'] {
  return async (claims: Claims) => {
    const hash = claims[KEY];
    if (hash === undefined) return registry?.refusalOf(claims);
    const holder = await findKeyHolder?.(hash, { feed: true });
    if (!holder) return 'ended';
    return holder.lacksFactor ? 'second-factor' : undefined;
  };
}

function tokenCheck(
  settings: Settings,
  registry: UserRegistry | undefined,
  breakers: BreakerWatch | undefined,
): TokenCheck | undefined {
  const { AUTH_MODE, USER_REGISTRY_JWT_SECRET: secret, USER_REGISTRY_JWKS_URL: url } = settings;
  if (secret && url) {
    throw new SettingsError(
      'USER_REGISTRY_JWT_SECRET and USER_REGISTRY_JWKS_URL are both set: tokens have one kind of key',
    );
  }
  const expected = expectedOf(settings);
  if (secret) return secretTokenCheck(secret, expected);
  if (url) return keySetTokenCheck(keysFrom(new URL(url), { watch: breakers }), undefined, expected);
  if (registry) return ownTokenCheck(registry);
  if (AUTH_MODE === 'required') {
    throw new SettingsError(
      'AUTH_MODE is required, so USER_REGISTRY_JWT_SECRET or USER_REGISTRY_JWKS_URL must be set',
    );
  }
  return undefined;
}

/** The claims required of tokens of an external registry. */
function expectedOf(settings: Settings): Expected {
  const {
    USER_REGISTRY_ISSUER: issuer,
    USER_REGISTRY_AUDIENCE: audience,
    USER_REGISTRY_JWT_SECRET: secret,
    USER_REGISTRY_JWKS_URL: url,
  } = settings;
  if ((issuer ?? audience) !== undefined && (secret ?? url) === undefined) {
    throw new SettingsError(
      'USER_REGISTRY_ISSUER and USER_REGISTRY_AUDIENCE need USER_REGISTRY_JWT_SECRET or USER_REGISTRY_JWKS_URL',
    );
  }
  return { issuer, audience: audience?.split(',') };
}

const REASONS = {
  ended: 'token.session_ended',
  'second-factor': 'token.second_factor_missing',
} as const satisfies Record<Refusal, Reason>;

/** Checks tokens of a registry in this process, which also knows whether a session was ended early. */
function ownTokenCheck(registry: UserRegistry): TokenCheck {
  const check = rememberingCheck(keySetTokenCheck(registry.publicKeys, OWN_REGISTRY_MS));
  return async token => {
    const claims = await check(token);
    const refusal = await registry.refusalOf(claims);
    if (refusal) throw new Problem(REASONS[refusal]);
    return claims;
  };
}

/**
 * @param limits other than those of the client
 * @returns a function that fetches the keys of a user registry; it throws Error, also if the registry does not answer
 */
export function keysFrom(url: URL, limits: Partial<OutboundLimits>): () => Promise<JSONWebKeySet> {
  const send = outbound({ name: 'the user registry', ...limits });
  return async () => {
    const { status, body } = await send({ method: 'GET', url });
    if (status !== 200) throw new Error(`the user registry returned ${status}`);
    return body as JSONWebKeySet;
  };
}

function bearerToken(header: string): string {
  const token = /^Bearer +([\w.~+/-]+=*)$/i.exec(header)?.[1];
  if (!token) throw new Problem('token.malformed');
  return token;
}

/**
 * The user of a token's claims. Renewed tokens have no is_activated and no type: a missing claim is accepted, a
 * negative one is not.
 */
function userOf({ sub, type, is_activated, second_factor }: JWTPayload): string {
  if (type !== undefined && type !== 'access') {
    throw new Problem('token.wrong_type', { type: String(type).slice(0, 20) });
  }
  // So say our tokens where the trace backend is not in this process.
  if (is_activated === false && second_factor === 'missing') {
    throw new Problem('token.second_factor_missing');
  }
  if (is_activated === false) throw new Problem('token.user_not_activated');
  // PostgreSQL cannot store U+0000 or unpaired surrogates. A registry may sign any JSON.
  const isUser = typeof sub === 'string' && sub !== '' && sub.length <= MAX_USER;
  if (!isUser || sub.includes('\0') || !sub.isWellFormed()) {
    throw new Problem('token.without_user');
  }
  return sub;
}
