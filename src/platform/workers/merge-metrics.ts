/**
 * Joins the metrics of several processes, in Prometheus' text format, in which the samples of a metric follow its HELP
 * and TYPE and must not be scattered. The samples of different processes must differ in a label.
 */
export function mergeMetrics(texts: readonly string[]): string {
  const metrics = new Map<string, { head: string[]; samples: string[] }>();
  for (const text of texts) {
    let metric = { head: [] as string[], samples: [] as string[] };
    let isKnown = false;
    for (const line of text.split('\n')) {
      const name = /^# HELP (\S+)/.exec(line)?.[1];
      if (name !== undefined) {
        const known = metrics.get(name);
        isKnown = known !== undefined;
        metric = known ?? { head: [], samples: [] };
        metrics.set(name, metric);
      }
      if (line === '') continue;
      if (!line.startsWith('#')) metric.samples.push(line);
      else if (!isKnown) metric.head.push(line);
    }
  }
  return [...metrics.values()].map(({ head, samples }) => `${[...head, ...samples].join('\n')}\n`).join('\n');
}
