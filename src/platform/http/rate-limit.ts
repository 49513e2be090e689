import rateLimit from '@fastify/rate-limit';
import type { Settings } from '../settings.ts';
import { isLocalRequest } from './address.ts';
import { Problem } from './problems.ts';
import type { Server } from './service.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its `rateLimit` guards against guessing secrets and flooding with mails: it holds with RATE_LIMIT=off too. */
    guarded?: boolean;
  }
}

/**
 * Limits the requests of one client address, in each process. Requests from this machine are never limited. Routes
 * can have lower limits by `config.rateLimit`; with RATE_LIMIT=off only the guarded ones apply.
 *
 * @param perMinute requests of one address, to all routes together
 */
export async function limitRequests(
  app: Server,
  { RATE_LIMIT }: Pick<Settings, 'RATE_LIMIT'>,
  perMinute: number,
): Promise<void> {
  const isOn = RATE_LIMIT === 'on';
  await app.register(rateLimit, {
    global: isOn,
    max: perMinute,
    timeWindow: 60_000,
    cache: 20_000,
    allowList: request => isLocalRequest(request) || (!isOn && !request.routeOptions.config.guarded),
    errorResponseBuilder: (_request, { ttl }) => {
      const seconds = Math.max(1, Math.ceil(ttl / 1000));
      return new Problem(
        'too_many_requests',
        `too many requests from this address; try again in ${seconds} s`,
        {
          retryAfter: seconds,
        },
      );
    },
  });
}
