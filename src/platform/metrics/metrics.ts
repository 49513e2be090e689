import { hash, timingSafeEqual } from 'node:crypto';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { Problem } from '../http/problems.ts';
import { requestDurations } from '../http/request-durations.ts';
import type { Server } from '../http/server.ts';
import type { Settings } from '../settings/settings.ts';
import { mergeMetrics } from '../workers/merge-metrics.ts';
import { metricsOfOthers, offerMetrics, workerNumber } from '../workers/worker.ts';
import { measureProcess } from './process.ts';

/**
 * GET /metrics, in Prometheus' text format: how long requests took by route and status, and the process itself. It
 * requires METRICS_TOKEN if that is set; otherwise it is open like /health, and a proxy should keep it from the
 * public, as the console does. Of several workers each answers with the metrics of all, which differ in the label `worker`.
 *
 * @returns where further metrics of the service register
 */
export function registerMetrics(
  app: Server,
  service: string,
  settings: Pick<Settings, 'METRICS_TOKEN' | 'DATA_DIR'>,
): Registry {
  const { METRICS_TOKEN } = settings;
  const registry = new Registry();
  const worker = workerNumber();
  registry.setDefaultLabels({ service, ...(worker !== undefined && { worker }) });
  collectDefaultMetrics({ register: registry });
  measureProcess(app, registry, settings);
  const observe = requestDurations(registry);
  app.addHook('onResponse', (request, reply, done) => {
    observe(request, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
  const withdraw = worker === undefined ? () => {} : offerMetrics(service, () => registry.metrics());
  app.addHook('onClose', async () => {
    withdraw();
    registry.clear();
  });
  const expected = METRICS_TOKEN === undefined ? undefined : sha256(METRICS_TOKEN);
  const config = { open: true, operator: true };
  app.get('/metrics', { schema: { hide: true }, config }, async (request, reply) => {
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (expected && !timingSafeEqual(sha256(token), expected)) {
      reply.header('www-authenticate', 'Bearer');
      throw new Problem('metrics.no_token');
    }
    const own = await registry.metrics();
    const text = worker === undefined ? own : mergeMetrics([own, ...(await metricsOfOthers(service))]);
    return reply.type(registry.contentType).send(text);
  });
  return registry;
}

function sha256(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
