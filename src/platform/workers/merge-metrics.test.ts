import { Gauge, Histogram, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { mergeMetrics } from './merge-metrics.ts';

async function metricsOf(worker: string, extra = false): Promise<string> {
  const registry = new Registry();
  registry.setDefaultLabels({ worker });
  new Gauge({ name: 'open', help: 'open things', registers: [registry] }).set(Number(worker));
  new Histogram({ name: 'seconds', help: 'times', buckets: [1, 2], registers: [registry] }).observe(1);
  if (extra) new Gauge({ name: 'rare', help: 'rare things', registers: [registry] }).set(7);
  return registry.metrics();
}

test('metrics of several processes become one text, in which each metric is described once', async () => {
  const merged = mergeMetrics([await metricsOf('1'), await metricsOf('2', true), '']);
  expect(merged).toBe(`# HELP open open things
# TYPE open gauge
open{worker="1"} 1
open{worker="2"} 2

# HELP seconds times
# TYPE seconds histogram
seconds_bucket{le="1",worker="1"} 1
seconds_bucket{le="2",worker="1"} 1
seconds_bucket{le="+Inf",worker="1"} 1
seconds_sum{worker="1"} 1
seconds_count{worker="1"} 1
seconds_bucket{le="1",worker="2"} 1
seconds_bucket{le="2",worker="2"} 1
seconds_bucket{le="+Inf",worker="2"} 1
seconds_sum{worker="2"} 1
seconds_count{worker="2"} 1

# HELP rare rare things
# TYPE rare gauge
rare{worker="2"} 7
`);
});
