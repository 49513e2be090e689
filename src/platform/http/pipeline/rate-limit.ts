import rateLimit, { type FastifyRateLimitStore } from '@fastify/rate-limit';
import type { RouteOptions } from 'fastify';
import { type AddressCounts, ProcessCounts } from '../../limits/rate-limit.ts';
import type { Counted } from '../../limits/rate-limit-store.ts';
import type { Settings } from '../../settings/settings.ts';
import { addressBlock, isLocalRequest } from '../address.ts';
import { Problem } from '../problems.ts';
import type { Server } from '../server.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its `rateLimit` guards against guessing secrets and flooding with mails: it holds with RATE_LIMIT=off too. */
    guarded?: boolean;
  }
}

/**
 * Limits the requests of one client address (of IPv6, of a /64). Requests from this machine and questions about health
 * are never limited. All routes together are counted in each process. Routes can have lower limits by
 * `config.rateLimit`, which are counted over all processes; with RATE_LIMIT=off only the guarded ones apply.
 *
 * @param perMinute requests of one address, to all routes together
 * @param counts counts for routes with limits of their own; by default the process does
 */
export async function limitRequests(
  app: Server,
  { RATE_LIMIT }: Pick<Settings, 'RATE_LIMIT'>,
  perMinute: number,
  counts?: AddressCounts,
): Promise<void> {
  const isOn = RATE_LIMIT === 'on';
  await app.register(rateLimit, {
    global: isOn,
    max: perMinute,
    timeWindow: 60_000,
    store: storeOf(counts),
    // A client that has disconnected has no address.
    keyGenerator: ({ ip }: { ip?: string }) => addressBlock(ip ?? ''),
    allowList: request => {
      const { health, guarded } = request.routeOptions.config;
      return isLocalRequest(request) || health === true || (!isOn && !guarded);
    },
    errorResponseBuilder: (_request, { ttl }) => {
      const seconds = Math.max(1, Math.ceil(ttl / 1000));
      return new Problem('limit.requests', { seconds }, { retryAfter: seconds });
    },
  });
}

/** The store of all routes, and for each route with a limit of its own one of that route. */
function storeOf(counts: AddressCounts | undefined): new () => FastifyRateLimitStore {
  const routes = new Map<string, FastifyRateLimitStore>();
  return class implements FastifyRateLimitStore {
    readonly #counts = new ProcessCounts();

    incr(key: string, callback: Parameters<FastifyRateLimitStore['incr']>[1], windowMs: number): void {
      callback(null, asResult(this.#counts.add(key, windowMs)));
    }

    child(options: object): FastifyRateLimitStore {
      // The plugin passes the route inside the options of its limit.
      const { method, url } = (options as { routeInfo: RouteOptions }).routeInfo;
      // HEAD tells as much as GET, by Content-Length.
      const route = `${method === 'HEAD' ? 'GET' : method} ${url}`;
      const store = routes.get(route) ?? (counts ? routeStore(counts, route) : new (storeOf(undefined))());
      routes.set(route, store);
      return store;
    }
  };
}

function routeStore(counts: AddressCounts, route: string): FastifyRateLimitStore {
  return {
    incr(key, callback, windowMs, max) {
      counts.count(route, key, { max, windowMs }).then(
        counted => callback(null, asResult(counted)),
        error => callback(error),
      );
    },
    child() {
      throw new Error('a route has no routes');
    },
  };
}

function asResult({ count, ttl }: Counted): { current: number; ttl: number } {
  return { current: count, ttl };
}
