import type { FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import { Problem } from '../../../platform/http/problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user that the request's token names (its `sub`); undefined without a token. */
    user: string | undefined;
    /** Its claims. */
    claims: JWTPayload | undefined;
    /**
     * Whether tokens are checked and the request has none: it cannot access what was created with a token. False with
     * AUTH_MODE=off.
     */
    anonymous: boolean;
    /** Whether any process has seen a valid token of this user. */
    isTokenUser: (userId: string) => Promise<boolean>;
  }
}

/**
 * Whether a request's token is an administrator's, by the `role` claim, which authentication.ts keeps of the trace
 * backend's tokens alone. Administrators have rights only where a route says so.
 */
export function isAdministrator({ claims }: Pick<FastifyRequest, 'claims'>): boolean {
  return claims?.role === 'SYSTEM_ADMIN';
}

/** Whether a request's token is of somebody who manages users, and therefore knows all of their names. */
export function seesEveryone({ claims }: Pick<FastifyRequest, 'claims'>): boolean {
  return claims?.role === 'SYSTEM_ADMIN' || claims?.role === 'REGIONAL_ADMIN';
}

/** The sender of a request, with what their role lets them know. */
export type KnowingCaller = Pick<FastifyRequest, 'user' | 'claims'>;

/** The sender of a request, as far as known. */
export type Caller = Pick<FastifyRequest, 'user' | 'anonymous'>;

/** The sender of a request, and the lookup that decides whether it may name a user to act as. */
export type ActingCaller = Pick<FastifyRequest, 'user' | 'anonymous' | 'isTokenUser'>;

/** The threads whose messages a caller's lists include: those created without a token, or these (uuid form). */
export type ReadableThreads = 'open' | readonly string[];

/**
 * The user that a request claims to act as. With a token it is the token's user, and a field that names another one is
 * refused; without a token it is the field's value. An anonymous request may not act as a user who has ever sent a
 * token: the caller of this function makes sure of that, in a query that it sends anyway (`isTokenUserSql`).
 *
 * @param field name of the request field, for the error: from_user, created_by, user_id
 * @param named that field's value, when it was sent
 * @throws Problem forbidden
 */
export function claimedUser(
  { user }: Pick<Caller, 'user'>,
  field: string,
  named: string | undefined,
): string | undefined {
  if (user === undefined) return named;
  if (named !== undefined && named !== user) {
    throw new Problem('user.not_of_token', { field });
  }
  return user;
}

/** Like `claimedUser`, after making sure that an anonymous request does not act as a user who has ever sent a token. */
export async function actingUser(
  caller: ActingCaller,
  field: string,
  named: string | undefined,
): Promise<string | undefined> {
  const user = claimedUser(caller, field, named);
  if (caller.anonymous && user !== undefined && (await caller.isTokenUser(user))) throw userHasTokens(field);
  return user;
}

/** The error for an anonymous request that acts as a user who has ever sent a token. */
export function userHasTokens(field: string): Problem {
  return new Problem('user.has_tokens', { field });
}

/**
 * The user that a request acts as; required, by field or by token.
 *
 * @param field name of the request field, for the error
 * @throws Problem invalid when nobody is named, forbidden when it is not the token's user
 */
export async function namedUser(
  caller: ActingCaller,
  field: string,
  named: string | undefined,
): Promise<string> {
  return required(field, await actingUser(caller, field, named));
}

/** @throws Problem invalid when nobody is named */
export function required(field: string, user: string | undefined): string {
  if (user === undefined) throw new Problem('validation.required', { field });
  return user;
}
