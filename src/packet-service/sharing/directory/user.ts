import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Problem } from '../../../platform/http/problems.ts';
import { actingUser } from '../../access/caller.ts';

export const UserId = Type.String({
  minLength: 1,
  maxLength: 256,
  description: 'user identifier',
  examples: ['ben'],
});

/**
 * The user whom a request is for, which it must name unless its token does.
 *
 * @param field name of the request field, for the error
 * @throws Problem invalid when nobody is named, forbidden when it is not the token's user
 */
export async function namedUser(
  request: FastifyRequest,
  field: string,
  named: string | undefined,
): Promise<string> {
  const user = await actingUser(request, field, named);
  if (user === undefined) throw new Problem('invalid', `${field} is required`);
  return user;
}
