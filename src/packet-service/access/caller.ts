import type { FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import { Problem } from '../../platform/http/problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user that the request's token names (its `sub`); undefined without a token. */
    user: string | undefined;
    /** What that token says. */
    claims: JWTPayload | undefined;
    /**
     * Whether tokens count here and the request has none: what was made with tokens is closed to it. False with
     * AUTH_MODE=off, where nobody is asked who they are.
     */
    anonymous: boolean;
    /** Whether a valid token ever named this user identifier, to any process. */
    isTokenUser: (userId: string) => Promise<boolean>;
  }
}

/**
 * Whether a request's token is that of an administrator: the role that tokens of the trace backend tell. It opens nothing
 * but what says so.
 */
export function isAdministrator({ claims }: Pick<FastifyRequest, 'claims'>): boolean {
  return claims?.role === 'SYSTEM_ADMIN';
}

/** Who asks, as far as that is known. */
export type Caller = Pick<FastifyRequest, 'user' | 'anonymous'>;

/** Who asks, and what tells whether somebody may act as a user by naming them. */
export type ActingCaller = Pick<FastifyRequest, 'user' | 'anonymous' | 'isTokenUser'>;

/** Of which threads alone a caller's lists hold messages: of those made without a token, or of these (uuid form). */
export type ReadableThreads = 'open' | readonly string[];

/**
 * The user that a request acts as. With a token it is the token's user, and a field that names another one is
 * refused; without a token it is whatever the field says, unless that is a user whom a token ever named.
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
 * The user that a request acts as, whom it must name unless its token does.
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

/** What a request without a token is answered that asks for something that was made with one. */
export function tokenNeeded(what: string): Problem {
  return new Problem(
    'unauthenticated',
    `${what} was made with a token: this needs one, Authorization: Bearer …`,
  );
}
