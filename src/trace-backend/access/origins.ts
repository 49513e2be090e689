import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import type { Settings } from '../../platform/settings.ts';

const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Refuses calls that change something and come from another site's page: browsers send a user's cookies along
 * wherever the call was made, and the Origin header with it (Fetch standard §3.2). Programs send none.
 *
 * Let in are pages of this server itself, of TRACE_PUBLIC_URL and of CORS_ORIGINS.
 */
export function checkOrigins(
  app: Server,
  { CORS_ORIGINS, TRACE_PUBLIC_URL }: Pick<Settings, 'CORS_ORIGINS' | 'TRACE_PUBLIC_URL'>,
): void {
  const known = new Set(CORS_ORIGINS?.split(','));
  if (TRACE_PUBLIC_URL) known.add(new URL(TRACE_PUBLIC_URL).origin);
  app.addHook('onRequest', async ({ method, headers, host, protocol }) => {
    const { origin } = headers;
    if (READING.has(method) || origin === undefined || known.has(origin)) return;
    // The scheme too: a page that came over http may be anybody's on the network.
    if (origin !== `${protocol}://${host}`) {
      throw new Problem(
        'forbidden',
        'calls from pages of this origin are refused; TRACE_PUBLIC_URL and CORS_ORIGINS name those that are not',
      );
    }
  });
}
