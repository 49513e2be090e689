import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { readPrimaryFacts } from './facts.ts';
import {
  type FollowedReplica,
  followReplica,
  type LeftOut,
  LOOK_MS,
  type ReplicaServer,
} from './follow-replica.ts';
import { primaryTrack } from './lag.ts';
import { fromPrimary, type ReadFrom, type ReadPools } from './read-from.ts';
import { positionWaiters } from './waiters.ts';

/** Why a read went to the primary: no replica is used; none had the position in time; its statement failed. */
export type WhyPrimary = 'left_out' | 'behind' | 'failed';

/** A replica at this moment. */
export interface ReplicaState {
  name: string;
  isUsed: boolean;
  /** why it is not used; undefined also before it was looked at */
  leftOut: LeftOut | undefined;
  lagSeconds: number | undefined;
}

export interface Replicas {
  /**
   * Chooses where a request reads. Without a position it is a replica that is used, in turns; with one, a replica that
   * has replayed it, for which this waits up to a second. Otherwise the primary. No connection is held meanwhile.
   */
  choose(position: bigint | undefined): ReadFrom | Promise<ReadFrom>;
  states(): ReplicaState[];
  start(): void;
  stop(): Promise<void>;
}

export interface ReplicasOptions {
  primary: ReadPools;
  logger: FastifyBaseLogger;
  maxLagMs: number;
  /** Observes each read, for metrics. */
  onRead: (server: 'replica' | 'primary', why?: WhyPrimary) => void;
  /** The primary's log ended before a position that it had: another server has taken over. */
  onReplaced: () => void;
}

/** Standbys that serve reads. One that lags, dies or is promoted gets none until it is a standby without lag again. */
export function openReplicas(servers: readonly ReplicaServer[], options: ReplicasOptions): Replicas {
  const { onRead } = options;
  const own = fromPrimary(options.primary);
  const primary = followPrimary(options);
  const waiters = positionWaiters<FollowedReplica>();
  const followed = servers.map(server =>
    followReplica(server, {
      ...options,
      identity: primary.identity,
      lagOf: primary.lagOf,
      isAwaited: waiters.isAny,
      onLook() {
        waiters.serve(pick);
        if (!followed.some(({ isUsed }) => isUsed())) waiters.giveUp();
      },
      onFailure: () => onRead('primary', 'failed'),
    }),
  );
  let turn = 0;

  function pick(position?: bigint): FollowedReplica | undefined {
    for (let n = 0; n < followed.length; n++) {
      const replica = followed[(turn + n) % followed.length] as FollowedReplica;
      if (!replica.isUsed() || (position !== undefined && replica.replayed() < position)) continue;
      turn = (turn + n + 1) % followed.length;
      return replica;
    }
    return undefined;
  }

  function goTo(replica: FollowedReplica | undefined, otherwise: WhyPrimary): ReadFrom {
    if (replica) onRead('replica');
    else onRead('primary', otherwise);
    return replica?.from ?? own;
  }

  return {
    choose(position) {
      const replica = pick(position);
      if (replica || position === undefined || !pick()) return goTo(replica, 'left_out');
      for (const { wake } of followed) wake();
      return waiters.wait(position).then(replica => goTo(replica, 'behind'));
    },
    states: () =>
      followed.map(({ name, isUsed, leftOut, lagMs }) => {
        const lag = lagMs();
        return {
          name,
          isUsed: isUsed(),
          leftOut: leftOut(),
          lagSeconds: lag === undefined ? undefined : lag / 1000,
        };
      }),
    start() {
      primary.start(followed);
      for (const { start } of followed) start();
    },
    async stop() {
      waiters.giveUp();
      await Promise.all([primary.stop(), ...followed.map(({ stop }) => stop())]);
    },
  };
}

/** Follows the primary's log. While the primary is away, replicas are as good as they were. */
function followPrimary({ primary, logger, onReplaced }: ReplicasOptions) {
  const track = primaryTrack();
  const stopping = new AbortController();
  const { signal } = stopping;
  let identity: string | undefined;
  let running: Promise<void> | undefined;

  async function run(followed: readonly FollowedReplica[]): Promise<void> {
    while (!signal.aborted) {
      const before = followed.map(({ replayed }) => replayed());
      try {
        const facts = await readPrimaryFacts(primary.pool);
        identity = facts.identity;
        if (!track.add(facts.flushed, performance.now())) onReplaced();
        followed.forEach(({ setAhead }, index) => {
          setAhead((before[index] as bigint) > facts.flushed);
        });
      } catch (error) {
        if (!signal.aborted) logger.debug({ err: error }, 'the position of the primary cannot be read');
      }
      await pause(LOOK_MS, undefined, { signal }).catch(() => {});
    }
  }

  return {
    identity: () => identity,
    lagOf: track.lagOf,
    start(followed: readonly FollowedReplica[]) {
      running ??= run(followed);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
