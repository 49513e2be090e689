import type pg from 'pg';
import { Gauge, type Registry } from 'prom-client';
import type { Server } from '../http/server.ts';
import { countJobs } from '../jobs/store.ts';
import { sampled } from './sampled.ts';

/**
 * Metrics of a job queue.
 *
 * @param schema of the job queue
 */
export function measureJobs(app: Server, registry: Registry, pool: pg.Pool, schema: string): void {
  const jobs = sampled(app, () => countJobs(pool, schema));
  const gauge = (name: string, help: string, field: 'waiting' | 'active') =>
    new Gauge({
      name,
      help,
      labelNames: ['queue'],
      registers: [registry],
      collect() {
        this.reset();
        for (const entry of jobs() ?? []) this.set({ queue: entry.queue }, entry[field]);
      },
    });
  gauge('jobs_waiting', 'jobs that are due or waiting for a retry, by queue', 'waiting');
  gauge('jobs_active', 'jobs in progress, by queue', 'active');
}
