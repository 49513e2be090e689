import type { IncomingHttpHeaders } from 'node:http';

/**
 * Whether a request comes with a Bearer token (RFC 6750 §2.1), well formed or not. Such a request is its token's alone:
 * no cookie counts beside it. Browsers send no Authorization on behalf of another origin's page without asking the
 * server first, so where it comes from need not be checked. Other schemes are for proxies in between, and do not count.
 */
export function hasBearer({ authorization }: Pick<IncomingHttpHeaders, 'authorization'>): boolean {
  return authorization !== undefined && /^Bearer(?:\s|$)/i.test(authorization);
}
