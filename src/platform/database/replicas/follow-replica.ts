import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { wakeableWait } from '../../concurrency/wakeable-wait.ts';
import { breakOff } from '../deadlines.ts';
import { type ReplicaFacts, readReplicaFacts } from './facts.ts';
import { fromReplica, type ReadFrom, type ReadPools } from './read-from.ts';

/** Time between two looks at a replica, in milliseconds. */
export const LOOK_MS = 500;
/** The interval while reads wait for it, and the minimum time between two checks. */
const POLL_MS = 5;

/** Why a replica gets no reads. */
export type LeftOut =
  | 'is not responding'
  | 'is not a standby'
  | 'is of another database'
  | 'is ahead of the primary'
  | 'is too far behind';

/** The connections to a replica. */
export interface ReplicaServer extends ReadPools {
  /** host and port, for logs and metrics */
  name: string;
  /** one connection, to look at it */
  monitor: pg.Pool;
}

/** Facts that decide whether a replica gets reads. */
export interface Following {
  primary: ReadPools;
  logger: FastifyBaseLogger;
  /** beyond this lag it gets none, in milliseconds */
  maxLagMs: number;
  /** of the primary's database; undefined before the primary has been asked */
  identity: () => string | undefined;
  /** see PrimaryTrack */
  lagOf: (replayed: bigint, now: number) => number | undefined;
  /** whether reads wait for a position */
  isAwaited: () => boolean;
  /** called after each look */
  onLook: () => void;
  /** a statement failed on it */
  onFailure: () => void;
}

/** A replica as it was at the last look. */
export interface FollowedReplica {
  name: string;
  from: ReadFrom;
  isUsed(): boolean;
  leftOut(): LeftOut | undefined;
  /** 0 before the first look */
  replayed(): bigint;
  /** undefined while it is not known */
  lagMs(): number | undefined;
  /** Tells whether it has replayed what the primary has not: then its log is another one, as after a failover. */
  setAhead(isAhead: boolean): void;
  /** Looks soon. */
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

/** Looks at a replica all the time, and decides whether it gets reads. It gets none before the first look. */
export function followReplica(server: ReplicaServer, following: Following): FollowedReplica {
  const rest = wakeableWait();
  const stopping = new AbortController();
  const usage = keepUsage(server.name, following);
  let replayed = 0n;
  let isAhead = false;
  let lag: number | undefined;
  let running: Promise<void> | undefined;

  async function look(): Promise<void> {
    try {
      const facts = await readReplicaFacts(server.monitor);
      replayed = facts.replayed;
      lag = following.lagOf(replayed, performance.now());
      usage.become(judge(facts, following, isAhead, lag));
    } catch (error) {
      if (stopping.signal.aborted) return;
      lag = undefined;
      // Waiting reads go to the primary at once.
      if (usage.isUsed()) breakOff(server.pool);
      usage.become('is not responding', error as Error);
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      rest.reset();
      await look();
      following.onLook();
      await pause(POLL_MS, undefined, { signal: stopping.signal }).catch(() => {});
      if (!following.isAwaited() && !stopping.signal.aborted) await rest.wait(LOOK_MS);
    }
  }

  return {
    name: server.name,
    from: fromReplica(server, following.primary, () => {
      following.onFailure();
      rest.wake();
    }),
    isUsed: usage.isUsed,
    leftOut: usage.leftOut,
    replayed: () => replayed,
    lagMs: () => lag,
    setAhead(ahead) {
      isAhead = ahead;
    },
    wake: rest.wake,
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      rest.wake();
      await running;
      await Promise.all([server.pool.end(), server.exports.end(), server.monitor.end()]);
    },
  };
}

/** Whether a replica can be used; undefined while that is not known. */
function judge(
  { identity, isStandby }: ReplicaFacts,
  following: Following,
  isAhead: boolean,
  lag: number | undefined,
): 'used' | LeftOut | undefined {
  const own = following.identity();
  if (own === undefined) return undefined;
  if (identity !== own) return 'is of another database';
  if (!isStandby) return 'is not a standby';
  if (isAhead) return 'is ahead of the primary';
  return lag === undefined || lag > following.maxLagMs ? 'is too far behind' : 'used';
}

/** Keeps whether a replica is used, and logs when that changes. */
function keepUsage(name: string, { logger, maxLagMs }: Following) {
  const began = performance.now();
  let state: 'new' | 'used' | LeftOut = 'new';
  return {
    isUsed: () => state === 'used',
    leftOut: () => (state === 'new' || state === 'used' ? undefined : state),
    become(next: 'used' | LeftOut | undefined, err?: Error): void {
      if (next === undefined || next === state) return;
      // A replica that is being written to needs a moment to reach the first known position of the primary.
      const isStarting = state === 'new' && performance.now() - began < maxLagMs;
      if (next === 'is too far behind' && isStarting) return;
      state = next;
      if (next === 'used') logger.info({ replica: name }, 'a replica is serving reads');
      else logger.warn({ replica: name, reason: next, err }, 'a replica is not serving reads');
    },
  };
}
