import { chmod, mkdtemp, rm } from 'node:fs/promises';
import path from 'node:path';
import { type CitusCluster, startCitusCluster } from '../helpers/citus-cluster.ts';
import { eventually } from '../helpers/eventually.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';
import { openRelay } from '../helpers/relay.ts';
import { openMailbox } from './mailbox.ts';
import { answers, COMMON, endProcesses, FIRST_ADMIN, type Stage, takes } from './stage.ts';

/** Processes of fieldtrace on one cluster of Citus: the first serves both services, the others are packet services. */
export interface ClusterStage extends Stage {
  cluster: CitusCluster;
}

/** @param bin folder of the programs of a PostgreSQL that has Citus */
export async function openClusterStage(bin: string, processes: number): Promise<ClusterStage> {
  const folder = await mkdtemp('/tmp/fieldtrace-faults-');
  await chmod(folder, 0o755);
  const running: (RunningProcess | undefined)[] = [];
  const mailbox = await openMailbox();
  const ends = [() => mailbox.stop(), () => rm(folder, { recursive: true, force: true })];
  const close = async () => {
    await endProcesses(running);
    for (const end of ends) await end();
  };
  try {
    const cluster = await startCitusCluster(bin, folder);
    ends.unshift(cluster.close);
    const { connection } = cluster.coordinator;
    const relay = await openRelay(connection);
    ends.unshift(relay.close);
    const { port } = relay.connection as { port: number };
    const data = path.join(folder, 'data');
    const start = (at: number) =>
      startProcess({
        ...COMMON,
        ...(at === 0 ? FIRST_ADMIN : { SERVICES: 'packet' }),
        SMTP_URL: mailbox.url,
        NODE_COMPILE_CACHE: path.join(folder, 'compiled'),
        DATA_DIR: data,
        DATABASE_URL: `postgres://${connection.user}@127.0.0.1:${port}/${connection.database}`,
      });
    for (let at = 0; at < processes; at++) running[at] = await start(at);
    return {
      cluster,
      processes: running,
      relay,
      mailbox,
      database: connection,
      folder: data,
      targets: service =>
        running.flatMap(child => (service === 'packet' ? child?.url : child?.traceUrl) ?? []),
      async start(at) {
        running[at] = await start(at);
      },
      async kill(at) {
        const killed = running[at];
        running[at] = undefined;
        killed?.child.kill('SIGKILL');
        await killed?.ended;
      },
      async postmaster() {
        return cluster.coordinator.pid() as number;
      },
      sessions: () => sessionsOf(cluster.coordinator),
      async served() {
        await Promise.all(
          running.flatMap(child => (child ? [takes(child.url), answers(child.traceUrl)] : [])),
        );
        await eventually(() => hasNoneInDoubt(cluster));
      },
      async close() {
        relay.heal();
        for (const worker of [...cluster.workers, cluster.spare]) worker.relay.heal();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

export async function sessionsOf({ query }: CitusCluster['coordinator']): Promise<number[]> {
  const rows = await query<{ pid: number }>(
    "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
  );
  return rows.map(({ pid }) => pid);
}

/**
 * Whether each transaction over several servers is over on all of them: what the coordinator has committed is hidden
 * on a worker that lost its COMMIT PREPARED, until the coordinator repeats it. Those of the load begin and end meanwhile.
 */
async function hasNoneInDoubt({ workers, spare }: CitusCluster): Promise<boolean> {
  const counts = await Promise.all(
    [...workers, spare].map(({ query }) =>
      query<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_prepared_xacts WHERE prepared < now() - interval '1 s'",
      ).then(([row]) => row?.count),
    ),
  ).catch(() => [1]);
  return counts.every(count => count === 0);
}
