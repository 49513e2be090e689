import type { FastifyRequest } from 'fastify';
import type { JWTPayload } from 'jose';
import { Problem } from '../../platform/http/problems.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The user that the request's token names (its `sub`); undefined without a token. */
    user: string | undefined;
    /** What that token says. */
    claims: JWTPayload | undefined;
  }
}

/**
 * The user that a request acts as. With a token it is the token's user, and a field that names another one is
 * refused; without a token it is whatever the field says.
 *
 * @param field name of the request field, for the error: from_user, created_by, user_id
 * @param named that field's value, when it was sent
 * @throws Problem forbidden
 */
export function actingUser(
  request: FastifyRequest,
  field: string,
  named: string | undefined,
): string | undefined {
  if (request.user === undefined) return named;
  if (named !== undefined && named !== request.user) {
    throw new Problem('forbidden', `${field} must be the user of the token`);
  }
  return request.user;
}
