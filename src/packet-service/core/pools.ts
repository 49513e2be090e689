import pg from 'pg';
import {
  type Connection,
  connectionFromUrl,
  openPool,
  type PoolOptions,
} from '../../platform/database/database.ts';
import type { ReplicaServer } from '../../platform/database/replicas/follow-replica.ts';
import { JOB_CONNECTIONS } from '../../platform/jobs/jobs.ts';
import type { WatchPool } from '../../platform/metrics/databases.ts';
import type { Settings } from '../../platform/settings/settings.ts';
import { SCHEMA } from './contract/database-schema.ts';
import { PIPELINE_DEADLINE_MS } from './writer/batch-writer.ts';

export { SCHEMA };

/** Connections of the batch writer: with more, batches become smaller (docs/decisions/batch-writer.md). */
export const WRITERS = 2;
/** The sequencer's one connection. */
const SEQUENCERS = 1;
/** Concurrent exports in this process: each holds a connection for as long as its client reads. */
const EXPORTS_AT_ONCE = 2;
/** Maximum of these for callers without a token: one stays free for the others. */
export const EXPORTS_WITHOUT_TOKEN = EXPORTS_AT_ONCE - 1;
/** The connection that a replica is looked at with has an answer within this time, in milliseconds. */
const LOOK_DEADLINE_MS = 2000;
/** Longest that an export waits for the server's next bytes, in milliseconds. A filter may pass over millions of packets. */
const EXPORT_SILENCE_MS = 10 * 60_000;

/** The connections of a process of the packet service, by purpose. */
export interface Pools {
  /** requests */
  pool: pg.Pool;
  /** the batch writer, in pipeline mode */
  writerPool: pg.Pool;
  /** the sequencer, in pipeline mode */
  logPool: pg.Pool;
  /** exports */
  exports: pg.Pool;
  /** the same of the servers of READ_DATABASE_URL */
  replicas: ReplicaServer[];
}

/** How many connections a process of the packet service opens at most; docs/operations.md has the formula. */
export function connectionsNeeded({ DATABASE_POOL }: Pick<Settings, 'DATABASE_POOL'>): number {
  return DATABASE_POOL + WRITERS + SEQUENCERS + EXPORTS_AT_ONCE + JOB_CONNECTIONS;
}

export function openPools(
  connection: Connection,
  settings: Pick<Settings, 'DATABASE_POOL' | 'READ_DATABASE_URL'>,
  {
    onRefusal,
    onNotice,
    watch,
  }: Required<Pick<PoolOptions, 'onRefusal' | 'onNotice'>> & { watch: WatchPool },
): Pools {
  const { DATABASE_POOL } = settings;
  const open = (name: string, max: number, options: PoolOptions = {}) =>
    openPool(connection, SCHEMA, max, { onRefusal, watch: watch(name), ...options });
  return {
    pool: open('requests', DATABASE_POOL, { onNotice }),
    writerPool: open('writer', WRITERS, {
      onNotice,
      pipeline: true,
      deadline: { ms: PIPELINE_DEADLINE_MS, of: 'statement' },
    }),
    logPool: open('log', SEQUENCERS, { pipeline: true }),
    exports: open('exports', EXPORTS_AT_ONCE, { deadline: { ms: EXPORT_SILENCE_MS, of: 'silence' } }),
    replicas: openReadPools(settings, watch),
  };
}

/** Closes all but those of the replicas. */
export async function closePools({ pool, writerPool, logPool, exports }: Pools): Promise<void> {
  await Promise.all([pool.end(), writerPool.end(), logPool.end(), exports.end()]);
}

/**
 * The connections to the replicas of READ_DATABASE_URL, at most DATABASE_POOL + 3 to each: for requests, for exports,
 * and one to look at it.
 */
function openReadPools(
  { READ_DATABASE_URL: urls, DATABASE_POOL }: Pick<Settings, 'READ_DATABASE_URL' | 'DATABASE_POOL'>,
  watch: WatchPool,
): ReplicaServer[] {
  return (urls?.split(',') ?? []).map((url, index) => {
    const connection = connectionFromUrl(url);
    const { host, port } = new pg.Client(connection);
    const open = (name: string, max: number, options: PoolOptions = {}) =>
      openPool(connection, SCHEMA, max, { watch: watch(`replica ${index + 1} ${name}`), ...options });
    return {
      name: `${host}:${port}`,
      pool: open('requests', DATABASE_POOL),
      exports: open('exports', EXPORTS_AT_ONCE, { deadline: { ms: EXPORT_SILENCE_MS, of: 'silence' } }),
      monitor: openPool(connection, SCHEMA, 1, { deadline: { ms: LOOK_DEADLINE_MS, of: 'statement' } }),
    };
  });
}
