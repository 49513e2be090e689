import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import type { Settings } from '../settings.ts';
import { Problem } from './problems.ts';
import type { Server } from './service.ts';

/** Seconds; from a read out of memory to a long poll. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * GET /metrics, in Prometheus' text format: how long requests took by route and status, and the process itself. It asks
 * for METRICS_TOKEN where that is set; otherwise it is open as /health is, and a proxy keeps it from the public.
 *
 * @returns where further metrics of the service register
 */
export function registerMetrics(
  app: Server,
  service: string,
  { METRICS_TOKEN }: Pick<Settings, 'METRICS_TOKEN'>,
): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'time from the first byte of a request to the last of its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });

  const observe = routeObserver(durations);
  app.addHook('onResponse', (request, reply, done) => {
    observe(request, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  app.addHook('onClose', async () => registry.clear());
  const expected = METRICS_TOKEN === undefined ? undefined : sha256(METRICS_TOKEN);
  app.get('/metrics', { schema: { hide: true }, config: { open: true } }, async (request, reply) => {
    const given = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (expected && !timingSafeEqual(sha256(given), expected)) {
      reply.header('www-authenticate', 'Bearer');
      throw new Problem('unauthenticated', 'this needs METRICS_TOKEN: Authorization: Bearer …');
    }
    return reply.type(registry.contentType).send(await registry.metrics());
  });
  return registry;
}

/**
 * Observes how long a request took. The histogram's child of a route and status is remembered: to find it by its labels
 * takes longer than to observe.
 */
function routeObserver(durations: Histogram<'method' | 'route' | 'status'>) {
  const byRoute = new WeakMap<object, Map<number, ReturnType<typeof durations.labels>>>();
  return (request: FastifyRequest, status: number, seconds: number): void => {
    const { method, routeOptions } = request;
    let byStatus = byRoute.get(routeOptions.config);
    if (byStatus === undefined) byRoute.set(routeOptions.config, (byStatus = new Map()));
    let child = byStatus.get(status);
    if (child === undefined) {
      // The route's pattern, never the path: a label for each packet would fill the memory.
      child = durations.labels(method, routeOptions.url ?? 'none', String(status));
      byStatus.set(status, child);
    }
    child.observe(seconds);
  };
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
