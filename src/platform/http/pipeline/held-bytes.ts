import { Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sharedSlots } from '../../limits/slots.ts';
import { countedAddress } from '../address.ts';
import { freeAtEnd } from '../caller-slots.ts';
import { isEncoded } from '../encoding.ts';
import { Problem } from '../problems.ts';
import type { Server } from '../server.ts';

/** Bodies and answers from this size in bytes are counted: smaller ones are bounded by the number of requests. */
const LARGE = 64 * 1024;
/** Maximum bytes of large bodies that one process holds at the same time, and those of one client address. */
const BODY_BYTES = { total: 64 * 1024 * 1024, perCaller: 32 * 1024 * 1024 };
/** Bytes of large answers, like BODY_BYTES. */
const ANSWER_BYTES = { total: 128 * 1024 * 1024, perCaller: 32 * 1024 * 1024 };
/** Retry-After, in seconds. */
const RETRY_SECONDS = { bodies: 2, answers: 5 };

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Counts bytes that the request's large body holds besides those that arrived; undefined for small bodies.
     *
     * @throws Problem unavailable
     */
    holdBody: ((bytes: number) => void) | undefined;
  }
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
 * Bounds the memory of JSON bodies that are in work, from their first byte to the answer: each is counted as it arrives,
 * so a client that only announces a large body keeps nobody out.
 */
export function boundBodies(app: Server): void {
  const slots = sharedSlots(BODY_BYTES);
  app.decorateRequest('holdBody', undefined);
  app.addHook('preParsing', (request: FastifyRequest, reply: FastifyReply, payload, done) => {
    if (!isLarge(request)) {
      done(null, payload);
      return;
    }
    const address = countedAddress(request);
    let held = 0;
    const hold = (bytes: number) => {
      if (reply.raw.closed) return;
      if (!slots.take(address, bytes)) {
        throw new Problem('service.large_bodies', {}, { retryAfter: RETRY_SECONDS.bodies });
      }
      held += bytes;
    };
    freeAtEnd(reply, () => slots.free(address, held));
    request.holdBody = hold;
    const counted = Object.assign(new Transform({ transform: count }), { receivedEncodedLength: 0 });
    function count(chunk: Buffer, _encoding: string, next: (error: Error | null, chunk?: Buffer) => void) {
      counted.receivedEncodedLength += chunk.length;
      try {
        hold(chunk.length);
      } catch (error) {
        next(error as Error);
        return;
      }
      next(null, chunk);
    }
    payload.once('error', error => counted.destroy(error));
    done(null, payload.pipe(counted));
  });
}

/** Whether a request brings JSON that is large, or may become so. Files are not held in memory. */
function isLarge(request: FastifyRequest): boolean {
  const { 'content-length': length, 'transfer-encoding': chunks, 'content-type': type } = request.headers;
  if (length === undefined ? chunks === undefined : Number(length) <= LARGE && !isEncoded(request))
    return false;
  return type !== undefined && /json/i.test(type);
}

/**
 * Bounds the memory of answers that wait for their readers: beyond it, large answers are 503. Whole answers are counted
 * as they are sent; what is streamed says by itself what it holds (`reply.holdAnswer`).
 */
export function boundAnswers(app: Server): void {
  const slots = sharedSlots(ANSWER_BYTES);

  app.decorateReply('holdAnswer', function (this: FastifyReply, bytes: number) {
    if (this.raw.closed) return;
    const address = countedAddress(this.request);
    if (!slots.take(address, bytes)) {
      throw new Problem('service.large_answers', {}, { retryAfter: RETRY_SECONDS.answers });
    }
    freeAtEnd(this, () => slots.free(address, bytes));
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
