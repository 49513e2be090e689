import { addressOf, type ClusterServer, type ClusterWorker } from '../helpers/citus-cluster.ts';
import { eventually } from '../helpers/eventually.ts';
import { type ClusterStage, sessionsOf } from './cluster-stage.ts';
import { FAULTS, type Fault, lasts, signal } from './faults.ts';
import { pick } from './random.ts';

const anyWorker = ({ cluster }: ClusterStage, random: () => number) =>
  pick(cluster.workers, random) as ClusterWorker;

async function killServer(server: ClusterServer, random: () => number): Promise<void> {
  await server.kill();
  await lasts(random);
  await server.start();
}

/** Kills a session, after which the server restarts all of them. */
async function killSession(server: ClusterServer, random: () => number): Promise<void> {
  signal(pick(await sessionsOf(server), random), 'SIGKILL');
  await eventually(() => server.query('SELECT 1').catch(() => undefined));
}

/** Moves shards to the spare worker, or all that it has to the others. */
async function rebalance({ coordinator, spare }: ClusterStage['cluster']): Promise<void> {
  const { host, port } = addressOf(spare.relay);
  const [row] = await coordinator.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM citus_shards WHERE nodename = $1 AND nodeport = $2',
    [host, port],
  );
  if (row?.count === 0) {
    await coordinator.query("SELECT rebalance_table_shards(shard_transfer_mode := 'force_logical')");
    return;
  }
  await coordinator.query("SELECT citus_drain_node($1, $2, 'force_logical')", [host, port]);
  await coordinator.query("SELECT citus_set_node_property($1, $2, 'shouldhaveshards', true)", [host, port]);
}

export const CLUSTER_FAULTS: Readonly<Record<string, Fault<ClusterStage>>> = {
  'kill one of three': FAULTS['kill one of three'] as Fault,
  'kill worker': {
    share: 25,
    what: 'kill -9 of PostgreSQL on a worker',
    strike: (stage, random) => killServer(anyWorker(stage, random), random),
  },
  'kill coordinator': {
    share: 15,
    what: 'kill -9 of PostgreSQL on the coordinator',
    strike: ({ cluster }, random) => killServer(cluster.coordinator, random),
  },
  'kill session of worker': {
    share: 15,
    what: 'kill -9 of one session of a worker, after which it restarts all of them',
    strike: (stage, random) => killSession(anyWorker(stage, random), random),
  },
  'broken two-phase commit': {
    share: 20,
    what: 'connections to a worker break before COMMIT PREPARED, when the coordinator has committed',
    async strike(stage, random) {
      const { relay } = anyWorker(stage, random);
      const before = relay.broken();
      relay.breakAt('COMMIT PREPARED');
      await eventually(() => relay.broken() > before);
      await lasts(random).finally(relay.heal);
    },
  },
  'worker in a black hole': {
    share: 10,
    what: 'the network to a worker drops everything for a moment',
    async strike(stage, random) {
      const { relay } = anyWorker(stage, random);
      relay.blackHole();
      await lasts(random).finally(relay.heal);
    },
  },
  rebalance: {
    share: 10,
    what: 'shards move to a third worker while they are written, or from it to the others',
    strike: ({ cluster }) => rebalance(cluster),
  },
};
