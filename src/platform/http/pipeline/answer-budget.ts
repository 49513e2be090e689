import type { FastifyReply } from 'fastify';
import { addressBlock, isLocalRequest } from '../address.ts';
import { Problem } from '../problems.ts';
import type { Server } from '../server.ts';

/** Answers from this size in bytes are counted; smaller ones are bounded by the number of connections. */
const LARGE = 64 * 1024;
/** Bytes of large answers that one process holds at the same time, at most, and those of one client address. */
const LIMITS = { total: 128 * 1024 * 1024, perAddress: 32 * 1024 * 1024 };
/** Retry-After, in seconds. */
const RETRY_SECONDS = 5;

declare module 'fastify' {
  interface FastifyReply {
    /**
     * Counts bytes that the answer holds in memory until its client has taken it.
     *
     * @throws Problem unavailable
     */
    holdAnswer(bytes: number): void;
  }
}

/**
 * Bounds the memory of answers that wait for their readers: beyond it, large answers are 503. Whole answers are counted
 * as they are sent; streams report the memory that they hold (`reply.holdAnswer`).
 */
export function boundAnswers(app: Server, limits: typeof LIMITS = LIMITS): void {
  let total = 0;
  const byAddress = new Map<string, number>();

  function add(address: string | undefined, bytes: number): void {
    total += bytes;
    if (address === undefined) return;
    const ofAddress = (byAddress.get(address) ?? 0) + bytes;
    if (ofAddress > 0) byAddress.set(address, ofAddress);
    else byAddress.delete(address);
  }

  app.decorateReply('holdAnswer', function (this: FastifyReply, bytes: number) {
    const { request, raw } = this;
    const address = isLocalRequest(request) ? undefined : addressBlock(request.ip);
    const ofAddress = address === undefined ? 0 : (byAddress.get(address) ?? 0);
    if (total + bytes > limits.total || ofAddress + bytes > limits.perAddress) {
      throw new Problem('service.large_answers', {}, { retryAfter: RETRY_SECONDS });
    }
    if (raw.closed) return;
    add(address, bytes);
    raw.once('close', () => add(address, -bytes));
  });

  app.addHook('onSend', (_request, reply, payload, done) => {
    try {
      const bytes = bytesOf(payload);
      if (bytes >= LARGE) reply.holdAnswer(bytes);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, payload);
  });
}

/** Bytes of a whole answer, where it is not surely small; 0 for what is streamed. */
function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return payload.length * 3 < LARGE ? 0 : Buffer.byteLength(payload);
  return payload instanceof Uint8Array ? payload.byteLength : 0;
}
