import type { Registry } from 'prom-client';
import type { Metric } from './schemas.ts';

/** Maximum metrics of one service. */
const MAX_VALUES = 5000;

/** The metrics of a registry, without the buckets of histograms; of one metric at most 5,000 values. */
export async function metricsAsJson(registry: Registry): Promise<Metric[]> {
  const metrics = await registry.getMetricsAsJSON();
  return metrics.map(({ name, help, type, values }) => ({
    name,
    help,
    type: String(type),
    values: values
      .map(
        value =>
          ({ name, ...value }) as { name?: string; metricName?: string; labels: object; value: number },
      )
      .map(({ metricName, labels, value }) => ({
        name: metricName ?? name,
        labels: labels as Metric['values'][0]['labels'],
        value,
      }))
      .filter(value => !value.name.endsWith('_bucket') && Number.isFinite(value.value))
      .slice(0, MAX_VALUES),
  }));
}
