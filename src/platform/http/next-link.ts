import type { FastifyReply } from 'fastify';

/**
 * Adds a Link header to the next page (RFC 8288): the request's query with another cursor. As a relative reference it
 * needs neither a Host that is to be trusted nor the path by which a proxy serves this.
 */
export function linkNext(reply: FastifyReply, cursor: string): void {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(reply.request.query as object)) {
    if (name !== 'cursor') for (const part of [value].flat()) query.append(name, String(part));
  }
  query.append('cursor', cursor);
  reply.header('link', `<?${query}>; rel="next"`);
}
