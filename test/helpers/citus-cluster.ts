import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { migratePacketService } from '../../src/packet-service/app.ts';
import { PLACEMENTS } from '../../src/packet-service/core/contract/placements.ts';
import { SCHEMA } from '../../src/packet-service/core/pools.ts';
import { distribute } from '../../src/platform/database/citus/distribute.ts';
import { migrateTraceBackend } from '../../src/trace-backend/app.ts';
import { eventually } from './eventually.ts';
import { freePort } from './free-port.ts';
import { openRelay, type Relay } from './relay.ts';

/** nobody: PostgreSQL refuses to run as root. */
const ACCOUNT = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const USER = 'fieldtrace';
const SHARDS = 4;
const SETTINGS = {
  shared_preload_libraries: 'citus',
  wal_level: 'logical',
  max_connections: '200',
  max_prepared_transactions: '200',
  max_worker_processes: '64',
  // A search reads rows from all over a table, which is slow where they are not in memory.
  shared_buffers: '1GB',
  // Plain, so that a relay sees what it breaks.
  'citus.node_conninfo': 'sslmode=disable',
};

export interface ClusterServer {
  connection: { host: string; port: number; user: string; database: string };
  /** Process id of the server. */
  pid(): number | undefined;
  start(): Promise<void>;
  /** Ends the server at once; resolves when all its sessions are gone. */
  kill(): Promise<void>;
  /** Runs a statement on this server alone. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
}

/** A worker, which the coordinator and the other workers reach over a network that can fail. */
export interface ClusterWorker extends ClusterServer {
  relay: Relay;
}

/** Servers with Citus on loopback: migrated, with the tables of the packet service distributed over two workers. */
export interface CitusCluster {
  coordinator: ClusterServer;
  workers: ClusterWorker[];
  /** a worker that the coordinator knows and that has no shards yet */
  spare: ClusterWorker;
  close(): Promise<void>;
}

/**
 * @param bin folder of the programs of a PostgreSQL that has Citus
 * @param folder that every user may enter
 * @param isDirect whether servers reach each other without the relays, for measurements
 */
export async function startCitusCluster(
  bin: string,
  folder: string,
  { isDirect = false }: { isDirect?: boolean } = {},
): Promise<CitusCluster> {
  const opened: { stop(): Promise<void> }[] = [];
  const close = async () => {
    for (const server of opened.toReversed()) await server.stop();
  };
  const server = async (name: string) => {
    const made = await startServer(bin, path.join(folder, name));
    opened.push(made);
    return made;
  };
  try {
    const coordinator = await server('coordinator');
    const worker = async (name: string): Promise<ClusterWorker> => {
      const made = await server(name);
      const relay = await openRelay(made.connection);
      opened.push({ stop: relay.close });
      return { ...made, relay };
    };
    const workers = [await worker('worker-1'), await worker('worker-2')];
    await migratePacketService(coordinator.connection, coordinator.connection);
    await migrateTraceBackend(coordinator.connection, coordinator.connection);
    const distribution = {
      owner: coordinator.connection,
      schema: SCHEMA,
      placements: PLACEMENTS,
      shards: SHARDS,
    };
    const addresses = (some: ClusterWorker[]) =>
      some.map(({ relay, connection }) => (isDirect ? connection : addressOf(relay)));
    await distribute({ ...distribution, workers: addresses(workers), dryRun: false, onStep: () => {} });
    const spare = await worker('worker-3');
    await distribute({
      ...distribution,
      workers: addresses([...workers, spare]),
      dryRun: false,
      onStep: () => {},
    });
    return { coordinator, workers, spare, close };
  } catch (error) {
    await close();
    throw error;
  }
}

export function addressOf({ connection }: Relay): { host: string; port: number } {
  const { host, port } = connection as { host: string; port: number };
  return { host, port };
}

async function startServer(bin: string, folder: string): Promise<ClusterServer> {
  mkdirSync(folder, { mode: 0o700 });
  if (ACCOUNT.uid !== undefined) chownSync(folder, ACCOUNT.uid, ACCOUNT.gid);
  const data = path.join(folder, 'data');
  const words = ['-D', data, '-U', USER, '-A', 'trust', '--locale=C.UTF-8', '--no-sync'];
  execFileSync(path.join(bin, 'initdb'), words, { ...ACCOUNT, cwd: folder, stdio: 'pipe' });
  const connection = { host: '127.0.0.1', port: await freePort(), user: USER, database: 'postgres' };
  const { port } = connection;
  const options = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', folder];
  for (const [name, value] of Object.entries(SETTINGS)) options.push('-c', `${name}=${value}`);
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> | undefined;

  async function query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new pg.Client(connection);
    client.on('error', () => {});
    await client.connect();
    return client
      .query<Row>(text, values)
      .then(({ rows }) => rows)
      .finally(() => client.end());
  }

  const server: ClusterServer = {
    connection,
    query,
    pid: () => child?.pid,
    async start() {
      // After a kill, the sessions that remain keep the next server from starting until the last has ended.
      for (;;) {
        const next = spawn(path.join(bin, 'postgres'), options, { ...ACCOUNT, stdio: 'ignore' });
        let isOver = false;
        ended = new Promise(resolve => next.once('close', resolve)).then(() => {
          isOver = true;
        });
        child = next;
        if (await eventually(async () => isOver || (await query('SELECT 1').catch(() => undefined)))) {
          if (!isOver) return;
        }
      }
    },
    async kill() {
      child?.kill('SIGKILL');
      await ended;
      child = undefined;
    },
    async stop() {
      child?.kill('SIGINT');
      await ended;
      child = undefined;
    },
  };
  await server.start();
  return server;
}
