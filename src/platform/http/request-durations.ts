import type { FastifyRequest } from 'fastify';
import type { Metric, MetricValue, Registry } from 'prom-client';

const NAME = 'http_request_duration_seconds';
/** Upper bounds in seconds; from a read out of memory to a long poll. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Observations of one route and status. */
interface Series {
  labels: { method: string; route: string; status: string };
  /** requests by the first bucket that they fit; the last are those beyond all bounds */
  counts: Float64Array;
  /** seconds */
  sum: number;
}

/**
 * A histogram of how long requests took, by method, route and status. prom-client's own finds its series by hashing
 * their labels with each observation (docs/decisions/micro-optimisations.md).
 *
 * @returns what observes a request; seconds from its first byte to the last of its answer
 */
export function requestDurations(
  registry: Registry,
): (request: FastifyRequest, status: number, seconds: number) => void {
  const all: Series[] = [];
  /** by a route's configuration, which is its own, then by method and status */
  const byRoute = new WeakMap<object, Map<string, Series>>();

  function add({ method, routeOptions: { config, url } }: FastifyRequest, status: number): Series {
    // The route's pattern, never the path: a label for each packet would fill the memory.
    const labels = { method, route: url ?? 'none', status: String(status) };
    const known = all.find(series => isEqual(series.labels, labels));
    const series = known ?? { labels, counts: new Float64Array(BUCKETS.length + 1), sum: 0 };
    if (!known) all.push(series);
    const ofRoute = byRoute.get(config) ?? new Map<string, Series>();
    byRoute.set(config, ofRoute.set(method + status, series));
    return series;
  }

  const metric = {
    name: NAME,
    help: 'time from the first byte of a request to the last byte of its response',
    type: 'histogram',
    aggregator: 'sum',
    get: async () => ({ ...metric, values: all.flatMap(valuesOf) }),
  };
  registry.registerMetric(metric as unknown as Metric);

  return (request, status, seconds) => {
    const { method, routeOptions } = request;
    const series = byRoute.get(routeOptions.config)?.get(method + status) ?? add(request, status);
    let bucket = 0;
    while (bucket < BUCKETS.length && seconds > (BUCKETS[bucket] as number)) bucket++;
    series.counts[bucket] = (series.counts[bucket] as number) + 1;
    series.sum += seconds;
  };
}

function isEqual(a: Series['labels'], b: Series['labels']): boolean {
  return a.method === b.method && a.route === b.route && a.status === b.status;
}

/** A series as Prometheus reads it: buckets hold what took as long or less. */
function valuesOf({ labels, counts, sum }: Series): (MetricValue<string> & { metricName: string })[] {
  let count = 0;
  const buckets = [...BUCKETS, '+Inf'].map((bound, bucket) => {
    count += counts[bucket] as number;
    return { metricName: `${NAME}_bucket`, labels: { ...labels, le: bound }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${NAME}_sum`, labels, value: sum },
    { metricName: `${NAME}_count`, labels, value: count },
  ];
}
