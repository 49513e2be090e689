import type { FastifyBaseLogger } from 'fastify';
import { Gauge, type Registry } from 'prom-client';

/** Called when an external system is considered down, and when it answers again. */
export interface BreakerWatch {
  /** @param system such as `the asset registry` */
  opened(system: string, reason: string): void;
  closed(system: string): void;
}

/** The metric and the log lines about external systems that are down. */
export function watchBreakers(registry: Registry, logger: FastifyBaseLogger): BreakerWatch {
  const gauge = new Gauge({
    name: 'outbound_breaker_open',
    help: '1 while an external system is failing and gets only trial requests',
    labelNames: ['system'],
    registers: [registry],
  });
  const labels = (system: string) => ({ system: system.replace(/^the /, '') });
  return {
    opened(system, reason) {
      gauge.set(labels(system), 1);
      logger.error({ system, reason }, `${system} is down: requests that need it are refused at once`);
    },
    closed(system) {
      gauge.set(labels(system), 0);
      logger.info({ system }, `${system} answers again`);
    },
  };
}
