import { hash, timingSafeEqual } from 'node:crypto';
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

  app.addHook('onResponse', (request, reply, done) => {
    // The route's pattern, never the path: a label for each packet would fill the memory.
    const route = request.routeOptions.url ?? 'none';
    durations.labels(request.method, route, String(reply.statusCode)).observe(reply.elapsedTime / 1000);
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

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
