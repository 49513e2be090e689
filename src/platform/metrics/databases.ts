import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { Counter, Gauge, type Registry } from 'prom-client';
import { boundedLines } from '../concurrency/bounded-lines.ts';
import type { PoolWatch } from '../database/database.ts';
import type { Settings } from '../settings/settings.ts';

/** Maximum lines about slow statements per minute. */
const SLOW_PER_MINUTE = 20;

/** Makes what watches a pool, by the name that it has in metrics. */
export type WatchPool = (name: string) => PoolWatch;

/** Metrics of a service's pools of connections, and log lines about slow statements and lost connections. */
export function watchPools(
  registry: Registry,
  logger: FastifyBaseLogger,
  { SLOW_STATEMENT_MILLISECONDS }: Pick<Settings, 'SLOW_STATEMENT_MILLISECONDS'>,
): WatchPool {
  const pools = new Map<string, pg.Pool>();
  const registers = [registry];
  gaugeOf('connections', 'open connections to the database, in use and idle', ['pool', 'state'], gauge => {
    for (const [pool, { totalCount, idleCount }] of pools) {
      gauge.set({ pool, state: 'used' }, totalCount - idleCount);
      gauge.set({ pool, state: 'idle' }, idleCount);
    }
  });
  gaugeOf('connections_max', 'connections that a pool opens at most', ['pool'], gauge => {
    for (const [name, pool] of pools) gauge.set({ pool: name }, pool.options.max);
  });
  gaugeOf('connections_waiting', 'requests that wait for a connection', ['pool'], gauge => {
    for (const [name, pool] of pools) gauge.set({ pool: name }, pool.waitingCount);
  });
  const lost = new Counter({
    name: 'database_connections_lost_total',
    help: 'database connections that broke or missed their deadline',
    registers,
  });
  const slow = new Counter({
    name: 'slow_statements_total',
    help: 'statements that took SLOW_STATEMENT_MILLISECONDS or longer',
    registers,
  });
  const boundedLog = boundedLines(SLOW_PER_MINUTE);

  function gaugeOf(name: string, help: string, labelNames: string[], collect: (gauge: Gauge) => void): void {
    const gauge: Gauge = new Gauge({
      name: `database_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        collect(gauge);
      },
    });
  }

  return name => ({
    slowMs: SLOW_STATEMENT_MILLISECONDS,
    opened(pool) {
      pools.set(name, pool);
    },
    onSlow(statement, ms) {
      slow.inc();
      const milliseconds = Math.round(ms);
      boundedLog(missing =>
        logger.warn(
          { statement, milliseconds, pool: name, ...(missing > 0 && { missing }) },
          'slow statement',
        ),
      );
    },
    onLost(error) {
      lost.inc();
      logger.error({ err: error, pool: name }, 'a connection to the database was lost');
    },
  });
}
