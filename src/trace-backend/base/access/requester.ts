import type { FastifyRequest } from 'fastify';
import { type Caller, callerOf } from './authentication.ts';

/** The sender of a request. */
export interface Requester {
  caller: Caller;
  /** address that the request came from */
  ip: string;
  /** the version that the client has read, from If-Match */
  ifMatch: string | undefined;
}

/** The sender of a request that needs no login; the caller is known if a valid cookie is present. */
export type Visitor = Pick<Requester, 'ip'> & { caller: Caller | undefined };

/** The sender of a request to a route that is not open. */
export function requesterOf(request: FastifyRequest): Requester {
  return { caller: callerOf(request), ip: request.ip, ifMatch: request.headers['if-match'] };
}
