import type { FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import { Problem } from '../../platform/http/problems.ts';

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
 * Whether a request's token is an administrator's, by the `role` claim of the trace backend's tokens. Administrators
 * have rights only where a route says so.
 */
export function isAdministrator({ claims }: Pick<FastifyRequest, 'claims'>): boolean {
  return claims?.role === 'SYSTEM_ADMIN';
}

/** The sender of a request, as far as known. */
export type Caller = Pick<FastifyRequest, 'user' | 'anonymous'>;

/** The sender of a request, and the lookup that decides whether it may name a user to act as. */
export type ActingCaller = Pick<FastifyRequest, 'user' | 'anonymous' | 'isTokenUser'>;

/** The threads whose messages a caller's lists include: those created without a token, or these (uuid form). */
export type ReadableThreads = 'open' | readonly string[];

/**
 * The user that a request acts as. With a token it is the token's user, and a field that names another one is
 * refused; without a token it is the field's value, unless that user has ever sent a token.
 *
 * @param field name of the request field, for the error: from_user, created_by, user_id
 * @param named that field's value, when it was sent
 * @throws Problem forbidden
 */
export async function actingUser(
  caller: ActingCaller,
  field: string,
  named: string | undefined,
): Promise<string | undefined> {
  const { user, anonymous } = caller;
  if (user === undefined) {
    if (anonymous && named !== undefined && (await caller.isTokenUser(named))) {
      throw new Problem('forbidden', `${field} is a user who has tokens: this needs one of them`);
    }
    return named;
  }
  if (named !== undefined && named !== user) {
    throw new Problem('forbidden', `${field} must be the user of the token`);
  }
  return user;
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
  const user = await actingUser(caller, field, named);
  if (user === undefined) throw new Problem('invalid', `${field} is required`);
  return user;
}

/** The error for a request without a token that asks for something created with one. */
export function tokenNeeded(what: string): Problem {
  return new Problem(
    'unauthenticated',
    `${what} was created with a token and needs one: Authorization: Bearer …`,
  );
}
