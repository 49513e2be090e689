import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { hasBearer } from '../../../platform/tokens/bearer.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses changing calls from pages of other sites: browsers send a user's cookies with calls from any page, together
 * with the Origin header (Fetch standard §3.2). Programs send no Origin. A request with a
 * Bearer token is accepted from anywhere, and its cookies are dropped: it acts as the token's user or is refused.
 *
 * Allowed are pages of this server, of TRACE_PUBLIC_URL, of TRACE_FRONTEND_URL and of CORS_ORIGINS.
 */
export function checkOrigins(
  app: Server,
  {
    CORS_ORIGINS,
    TRACE_PUBLIC_URL,
    TRACE_FRONTEND_URL,
  }: Pick<Settings, 'CORS_ORIGINS' | 'TRACE_PUBLIC_URL' | 'TRACE_FRONTEND_URL'>,
): void {
  const allowed = new Set(CORS_ORIGINS?.split(','));
  for (const url of [TRACE_PUBLIC_URL, TRACE_FRONTEND_URL]) if (url) allowed.add(new URL(url).origin);
  app.addHook('onRequest', async ({ method, headers, host, protocol }) => {
    if (hasBearer(headers)) {
      // Before any cookie is read.
      delete headers.cookie;
      return;
    }
    const { origin } = headers;
    if (READING.has(method) || origin === undefined || allowed.has(origin)) return;
    // The scheme must match too: anyone on the network can inject a page served over http.
    if (origin !== `${protocol}://${host}`) {
      throw new Problem('request.origin_not_allowed');
    }
  });
}
