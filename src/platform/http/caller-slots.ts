import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallerSlots } from '../limits/caller-slots.ts';
import { countedAddress } from './address.ts';
import { Problem } from './problems.ts';

/** A limit per caller on a shared resource. */
export interface CallerLimit {
  /** how many, at most */
  perCaller: number;
  /** what they are, for the error and for the database: "uploads" */
  what: string;
  /** Retry-After, in seconds */
  retryAfter: number;
}

/**
 * Takes a slot for the request until its answer has been sent or its connection is closed.
 *
 * @param user the caller, if known; otherwise the request's address counts, except for this machine's own
 * @throws Problem too_many_requests
 */
export type TakeSlot = (
  request: FastifyRequest,
  reply: FastifyReply,
  user: string | undefined,
) => Promise<void>;

/** Bounds how many of something one caller has over all processes, so that the others find room. */
export function slotsOfCallers(slots: CallerSlots, { perCaller, what, retryAfter }: CallerLimit): TakeSlot {
  return async (request, reply, user) => {
    const caller = user === undefined ? countedAddress(request) : `user ${user}`;
    if (caller === undefined || reply.raw.closed) return;
    const free = await slots.take(what, caller, perCaller);
    if (free === undefined) {
      const reason = user === undefined ? 'limit.open_of_address' : 'limit.open_of_user';
      throw new Problem(reason, { max: perCaller, what }, { retryAfter });
    }
    freeAtEnd(reply, free);
  };
}

/** Frees a slot when the answer has been sent or its connection is closed. */
export function freeAtEnd({ raw }: FastifyReply, free: () => void): void {
  if (raw.closed) free();
  else raw.once('close', free);
}
