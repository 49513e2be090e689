/** A metric as the services give it. */
export interface Metric {
  name: string;
  values: { name: string; labels: object; value: number }[];
}

/** The metrics of one moment. */
export interface Sample {
  /** milliseconds since 1970 */
  at: number;
  metrics: Metric[];
}

/** The sum of a metric over its labels; undefined if it is not there. */
export function total(metrics: Metric[], name: string): number | undefined {
  const values = metrics.flatMap(metric => metric.values).filter(value => value.name === name);
  return values.length === 0 ? undefined : values.reduce((sum, { value }) => sum + value, 0);
}

/** A gauge at each moment. */
export function gauge(samples: Sample[], name: string): number[] {
  return samples.map(({ metrics }) => total(metrics, name)).filter(value => value !== undefined);
}

/** How fast a counter grew between each two moments, per second; a restart counts from zero. */
export function rate(samples: Sample[], name: string): number[] {
  return samples.slice(1).map(({ at, metrics }, n) => {
    const before = samples[n] as Sample;
    const [old, now] = [total(before.metrics, name) ?? 0, total(metrics, name) ?? 0];
    const seconds = Math.max(0.001, (at - before.at) / 1000);
    return (now >= old ? now - old : now) / seconds;
  });
}
