import type { FastifyRequest } from 'fastify';
import { type Caller, callerOf } from './authentication.ts';

/** Who makes a request, as far as what is done for it needs to know. */
export interface Requester {
  caller: Caller;
  /** address that the request came from */
  ip: string;
  /** the version that the client has read, as its If-Match says */
  ifMatch: string | undefined;
}

/** Somebody who makes a request that needs no login; the caller is known where a good cookie came along. */
export type Visitor = Pick<Requester, 'ip'> & { caller: Caller | undefined };

/** Who makes a request to a route that is not open. */
export function requesterOf(request: FastifyRequest): Requester {
  return { caller: callerOf(request), ip: request.ip, ifMatch: request.headers['if-match'] };
}
