import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the definition says that the body may be left out. */
    optionalBody?: boolean;
  }
}

/**
 * Options of a route whose body may be left out: none is the same as {}, and an empty one is none, whatever media type
 * a client calls it.
 */
export const optionalBody = {
  config: { optionalBody: true },
  async onRequest({ headers }: FastifyRequest) {
    if (headers['content-length'] === '0') delete headers['content-type'];
  },
  async preValidation(request: FastifyRequest) {
    request.body ??= {};
  },
};
