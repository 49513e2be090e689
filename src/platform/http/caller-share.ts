import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Slots } from '../limits/slots.ts';
import { addressBlock, isLocalRequest } from './address.ts';
import { Problem } from './problems.ts';

/** A limit per caller on a shared resource. */
export interface ShareOptions {
  /** how many, at most */
  perCaller: number;
  /** what they are, for the error and for the database: "uploads" */
  what: string;
  /** Retry-After, in seconds */
  retryAfter: number;
}

/**
 * Takes one for the request until its answer has been sent or its connection is closed.
 *
 * @param user the caller, if known; otherwise the request's address counts, except for this machine's own
 * @throws Problem too_many_requests
 */
export type TakeShare = (
  request: FastifyRequest,
  reply: FastifyReply,
  user: string | undefined,
) => Promise<void>;

/** Bounds how many of something one caller has over all processes, so that the others find room. */
export function callerShare(slots: Slots, { perCaller, what, retryAfter }: ShareOptions): TakeShare {
  return async (request, { raw }, user) => {
    const caller = callerOf(request, user);
    if (caller === undefined || raw.closed) return;
    const free = await slots.take(what, caller, perCaller);
    if (free === undefined) {
      const reason = user === undefined ? 'limit.open_of_address' : 'limit.open_of_user';
      throw new Problem(reason, { max: perCaller, what }, { retryAfter });
    }
    if (raw.closed) free();
    else raw.once('close', free);
  };
}

function callerOf(request: FastifyRequest, user: string | undefined): string | undefined {
  if (user !== undefined) return `user ${user}`;
  return isLocalRequest(request) ? undefined : addressBlock(request.ip);
}
