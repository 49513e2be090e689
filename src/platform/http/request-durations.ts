import type { FastifyRequest } from 'fastify';
import { Histogram, type Registry } from 'prom-client';

/** Upper bounds in seconds; from a read out of memory to a long poll. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * A histogram of how long requests took, by method, route and status.
 *
 * @returns what observes a request; seconds from its first byte to the last of its answer
 */
export function requestDurations(
  registry: Registry,
): (request: FastifyRequest, status: number, seconds: number) => void {
  const histogram = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'time from the first byte of a request to the last byte of its response',
    labelNames: ['method', 'route', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  });
  return ({ method, routeOptions: { url } }, status, seconds) => {
    // The route's pattern, never the path: a label for each packet would fill the memory.
    histogram.observe({ method, route: url ?? 'none', status: String(status) }, seconds);
  };
}
