import { AsyncLocalStorage } from 'node:async_hooks';
import type pg from 'pg';
import { Gauge, Histogram, type Registry } from 'prom-client';
import type { Server } from '../platform/http/server.ts';
import { measureJobs } from '../platform/metrics/jobs.ts';
import { sampled } from '../platform/metrics/sampled.ts';
import type { Settings } from '../platform/settings/settings.ts';
import { JOBS_SCHEMA } from './collaboration/sharing/notifications/channels.ts';
import { deliveries } from './collaboration/sharing/notifications/store.ts';
import type { Broadcast } from './core/log/broadcast.ts';
import type { Sequencer } from './core/log/sequencer.ts';
import type { BatchWatch, BatchWriter } from './core/writer/batch-writer.ts';
import type { Feeds } from './reading/feed/feeds.ts';
import type { TileFollower } from './reading/tiles/follower.ts';

/** Maximum dead letters counted. */
const MAX_DEAD = 100_000;
/** Upper bounds: a batch has 128 packets at most. */
const PACKETS = [1, 2, 4, 8, 16, 32, 64, 128];
/** Upper bounds in seconds, from a commit to a solid-state disk to what is given up. */
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/**
 * Metrics of the batch writer, observed once per batch and not per packet. While requests are traced, the statements of
 * a batch belong to the request whose packet is its first.
 */
export function measureBatches(
  registry: Registry,
  { OTEL_EXPORTER_OTLP_ENDPOINT }: Pick<Settings, 'OTEL_EXPORTER_OTLP_ENDPOINT'>,
): BatchWatch {
  const histogram = (name: string, help: string, buckets: number[]) =>
    new Histogram({ name, help, buckets, registers: [registry] });
  const packets = histogram('writer_batch_packets', 'packets in a batch', PACKETS);
  const waited = histogram(
    'writer_batch_wait_seconds',
    'how long the first packet of a batch waited for its turn',
    SECONDS,
  );
  const took = histogram('writer_batch_seconds', 'how long writing a batch took, including retries', SECONDS);
  return {
    sent(count, waitedMs) {
      packets.observe(count);
      waited.observe(waitedMs / 1000);
    },
    ended: tookMs => took.observe(tookMs / 1000),
    ...(OTEL_EXPORTER_OTLP_ENDPOINT && { context: () => AsyncLocalStorage.snapshot() }),
  };
}

/** Measured parts of a packet service. */
interface Measured {
  pool: pg.Pool;
  writer: Pick<BatchWriter, 'waiting'>;
  log: Pick<Sequencer, 'outboxAge'>;
  news: Pick<Broadcast, 'position'>;
  feeds: Pick<Feeds, 'count'>;
  tiles: Pick<TileFollower, 'behind'>;
}

/** Metrics of the writer's queue, the log, feeds and notifications. */
export function measurePacketService(
  app: Server,
  registry: Registry,
  { pool, writer, log, news, feeds, tiles }: Measured,
): void {
  measureJobs(app, registry, pool, JOBS_SCHEMA);
  const dead = sampled(app, () => deliveries.countDead(pool, MAX_DEAD));
  const gauge = (name: string, help: string, look: () => number | undefined) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        const value = look();
        if (value === undefined) this.reset();
        else this.set(value);
      },
    });
  gauge('writer_waiting_packets', 'packets waiting to be written', writer.waiting);
  gauge('log_outbox_age_seconds', 'maximum age of an event that is not in the log yet', log.outboxAge);
  gauge('log_position', 'position of the last entry of the log', () => news.position);
  gauge('tiles_uncounted_entries', 'log entries not yet counted in maps', tiles.behind);
  gauge('feeds_open', 'open live feeds', feeds.count);
  gauge('dead_letters', 'notifications that could not be delivered and are waiting for a replay', dead);
}
