import type { FastifyBaseLogger } from 'fastify';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { ReplicaServer } from '../../../platform/database/replicas/follow-replica.ts';
import { fromPrimary, type ReadPools } from '../../../platform/database/replicas/read-from.ts';
import {
  openReplicas,
  type ReplicaState,
  type Replicas,
} from '../../../platform/database/replicas/replicas.ts';
import type { HealthDetail } from '../../../platform/http/health.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { type ChooseReads, readsOf } from './reads.ts';
import { reportPositions, type WritePositions } from './write-positions.ts';

/** The databases that the packet service reads from, and the positions of changes that it reports to clients. */
export interface Reading {
  reads: ChooseReads;
  /** undefined without replicas */
  positions: WritePositions | undefined;
  /** the state of the replicas, for /health/ready */
  details: (() => HealthDetail)[];
  stop(): Promise<void>;
}

interface Opening {
  pools: ReadPools & { replicas: readonly ReplicaServer[] };
  metrics: Registry;
  logger: FastifyBaseLogger;
}

/** Reads go to the replicas of READ_DATABASE_URL; without that setting to the primary, at no cost. */
export function openReading(
  app: Server,
  { READ_MAX_LAG_SECONDS }: Pick<Settings, 'READ_MAX_LAG_SECONDS'>,
  { pools, metrics, logger }: Opening,
): Reading {
  const onRead = countReads(metrics);
  if (pools.replicas.length === 0) {
    measureReplicas(metrics, () => []);
    const primary = fromPrimary(pools);
    return { reads: () => primary, positions: undefined, details: [], async stop() {} };
  }
  const positions = reportPositions(app, pools.pool);
  const replicas = openReplicas(pools.replicas, {
    primary: pools,
    logger,
    maxLagMs: READ_MAX_LAG_SECONDS * 1000,
    onRead,
    onReplaced: positions.reset,
  });
  measureReplicas(metrics, replicas.states);
  app.addHook('onListen', async () => replicas.start());
  return {
    reads: readsOf(replicas),
    positions,
    details: [() => detailOf(replicas.states())],
    stop: replicas.stop,
  };
}

function countReads(metrics: Registry): (server: 'replica' | 'primary', why?: string) => void {
  const reads = new Counter({
    name: 'reads_total',
    help: 'with READ_DATABASE_URL: reads that replicas can serve, by the server that served them and the reason if it was the primary',
    labelNames: ['server', 'reason'],
    registers: [metrics],
  });
  return (server, reason = '') => reads.inc({ server, reason });
}

function measureReplicas(metrics: Registry, states: Replicas['states']): void {
  const gauge = (name: string, help: string, value: (state: ReplicaState) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['replica'],
      registers: [metrics],
      collect() {
        this.reset();
        for (const state of states()) {
          const current = value(state);
          if (current !== undefined) this.set({ replica: state.name }, current);
        }
      },
    });
  gauge('replica_used', 'with READ_DATABASE_URL: 1 while a replica is serving reads', state =>
    Number(state.isUsed),
  );
  gauge(
    'replica_lag_seconds',
    'with READ_DATABASE_URL: how long a replica has lagged behind the primary',
    state => state.lagSeconds,
  );
}

function detailOf(states: readonly ReplicaState[]): HealthDetail {
  const missing = states.filter(({ isUsed }) => !isUsed);
  if (missing.length === 0) return { name: 'replicas', status: 'OK' };
  const message = missing.map(({ name, leftOut = 'was not asked yet' }) => `${name} ${leftOut}`).join('; ');
  return { name: 'replicas', status: 'LEFT_OUT', message };
}
