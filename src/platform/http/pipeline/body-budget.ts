import { Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressBlock, isLocalRequest } from '../address.ts';
import { isEncoded } from '../encoding.ts';
import { Problem } from '../problems.ts';
import type { Server } from '../server.ts';

/** Bytes of a body from which on it is counted: smaller ones are bounded by the number of requests. */
const LARGE = 64 * 1024;
/** Bytes of large bodies that one process holds at the same time, at most, and those of one client address. */
const LIMITS = { total: 64 * 1024 * 1024, perAddress: 32 * 1024 * 1024 };
/** Retry-After, in seconds. */
const RETRY_SECONDS = 2;

declare module 'fastify' {
  interface FastifyRequest {
    /**
     * Counts bytes that the request's large body holds besides those that arrived; undefined for small bodies.
     *
     * @throws Problem unavailable
     */
    holdBody: ((bytes: number) => void) | undefined;
  }
}

/**
 * Bounds the memory of JSON bodies that are in work, from their first byte to the answer: each is counted as it arrives,
 * so a client that only announces a large body keeps nobody out.
 */
export function boundBodies(app: Server, limits: typeof LIMITS = LIMITS): void {
  let total = 0;
  const byAddress = new Map<string, number>();

  /** @returns how the bytes are counted that one body holds, and that it holds none any more */
  function account(request: FastifyRequest) {
    const address = isLocalRequest(request) ? undefined : addressBlock(request.ip);
    let held = 0;
    let ended = false;
    const add = (bytes: number) => {
      held += bytes;
      total += bytes;
      if (address === undefined) return 0;
      const ofAddress = (byAddress.get(address) ?? 0) + bytes;
      if (ofAddress > 0) byAddress.set(address, ofAddress);
      else byAddress.delete(address);
      return ofAddress;
    };
    const hold = (bytes: number) => {
      const ofAddress = ended ? 0 : add(bytes);
      if (total > limits.total || ofAddress > limits.perAddress) {
        throw new Problem('service.large_bodies', {}, { retryAfter: RETRY_SECONDS });
      }
    };
    const end = () => {
      if (!ended) add(-held);
      ended = true;
    };
    return { hold, end };
  }

  app.decorateRequest('holdBody', undefined);
  app.addHook('preParsing', (request: FastifyRequest, reply: FastifyReply, payload, done) => {
    if (!isLarge(request)) {
      done(null, payload);
      return;
    }
    const { hold, end } = account(request);
    request.holdBody = hold;
    reply.raw.once('close', end);
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
