import type { FastifyInstance } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether pages of other origins may embed the answer, as an image in a page of a shop. */
    embeddable?: boolean;
    /** Whether the answer holds personal data, which no cache may keep. */
    personal?: boolean;
  }
}

const COMMON = { 'x-content-type-options': 'nosniff' };
/** The headers of refusals that no hook sees: of what the router or Node cannot read. */
export const OF_REFUSALS = { ...COMMON, 'cross-origin-resource-policy': 'same-origin' };
/** Browsers look at these in documents alone. JSON is none, and most answers are JSON. */
const OF_DOCUMENTS = [
  ['cross-origin-opener-policy', 'same-origin'],
  ['permissions-policy', 'camera=(), geolocation=(self), microphone=(), payment=(), usb=()'],
] as const;
/**
 * Cache-Control of everything that is not public: a cache of its reader alone may keep it, and asks again each time, so
 * that nobody sees it there after a logout (RFC 9111 §5.2.2).
 */
export const PRIVATE = 'private, no-cache';
const READING = new Set(['GET', 'HEAD']);
/** HTTPS for a year (RFC 6797). Browsers ignore the header in answers over http. */
const TRANSPORT = { 'strict-transport-security': 'max-age=31536000' };

/**
 * Tells browsers what answers may be used for: never as another media type, by scripts of pages that this server did not
 * open, or embedded in other origins' pages, except what is made for that. Over https also that it stays https. What a
 * route does not call public is private. A document that needs more of its browser, as the console does, sets its own
 * Permissions-Policy, which is kept.
 *
 * @param publicUrl what clients know the service by, where a setting says it: behind a proxy that TRUST_PROXY does not
 *   name, requests seem to come over http
 */
export function sendSecurityHeaders(app: FastifyInstance, publicUrl: string | undefined): void {
  const isPublicHttps = publicUrl?.startsWith('https:') === true;
  const headersFor = (policy: 'same-origin' | 'cross-origin', transport: object) => ({
    ...COMMON,
    'cross-origin-resource-policy': policy,
    ...transport,
  });
  const plain = { closed: headersFor('same-origin', {}), embeddable: headersFor('cross-origin', {}) };
  const secure = {
    closed: headersFor('same-origin', TRANSPORT),
    embeddable: headersFor('cross-origin', TRANSPORT),
  };
  app.addHook('onRequest', (request, reply, done) => {
    const { embeddable, personal } = request.routeOptions.config;
    const headers = isPublicHttps || request.protocol === 'https' ? secure : plain;
    reply.headers(embeddable ? headers.embeddable : headers.closed);
    if (personal) reply.header('cache-control', 'no-store');
    done();
  });
  app.addHook('onSend', ({ method }, reply, payload, done) => {
    if (READING.has(method) && !reply.hasHeader('cache-control')) reply.header('cache-control', PRIVATE);
    const type = reply.getHeader('content-type');
    if (typeof type !== 'string' || !type.startsWith('application/json')) {
      for (const [name, value] of OF_DOCUMENTS) if (!reply.hasHeader(name)) reply.header(name, value);
    }
    done(null, payload);
  });
}
