import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { pino } from 'pino';
import { migratePacketService } from '../src/packet-service/app.ts';
import type { EmbeddedPostgres } from '../src/platform/embedded-postgres/index.ts';
import { startEmbeddedPostgres } from '../src/platform/embedded-postgres/index.ts';
import { startCitusCluster } from '../test/helpers/citus-cluster.ts';
import type { Load, LoadResult } from './load.ts';
import { runWrk } from './wrk.ts';

const ROOT = path.resolve(import.meta.dirname, '..');

/** One line of the result table. */
export interface Row {
  name: string;
  value: number;
  unit: string;
  /** the limit measured in the same run, and this row's part of it */
  against?: { name: string; ratio: number };
  /** further figures, such as latencies */
  note?: string;
}

/** A server process under measurement. */
export interface Measured {
  port: number;
  pid: number;
  stop(): Promise<void>;
}

/** The context of a group of rows: a separate database and processes to measure. */
export interface Context {
  /** seconds that one measurement lasts */
  seconds: number;
  connection: EmbeddedPostgres['connection'];
  /** starts fieldtrace on the database */
  startService(environment?: Record<string, string>): Promise<Measured>;
  /** starts fieldtrace's trace backend on the database */
  startTrace(environment?: Record<string, string>): Promise<Measured>;
  /** starts both services and the console on the database; the port is the console's */
  startConsole(environment?: Record<string, string>): Promise<Measured>;
  /** starts a script of bench/programs/ that prints `port <n>` when it serves */
  startScript(script: string): Promise<Measured>;
  /** runs a script of bench/programs/ to its end and gives what it printed */
  runScript(script: string): Promise<string>;
  load(load: Omit<Load, 'seconds'> & { seconds?: number }): Promise<LoadResult>;
}

/**
 * Runs `work` with a fresh, migrated database in a temporary folder: the embedded PostgreSQL, or with CITUS_BIN, the
 * folder of the programs of a PostgreSQL that has Citus, a cluster with two workers.
 */
export async function withContext<Result>(
  seconds: number,
  work: (context: Context) => Promise<Result>,
): Promise<Result> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'fieldtrace-bench-'));
  const bin = process.env.CITUS_BIN;
  if (bin) {
    await chmod(dataDir, 0o755);
    const cluster = await startCitusCluster(bin, dataDir, { isDirect: true });
    try {
      return await work(
        makeContext(seconds, { ...cluster.coordinator.connection, password: '', ssl: false }),
      );
    } finally {
      await cluster.close();
      await rm(dataDir, { recursive: true, force: true });
    }
  }
  const server = await startEmbeddedPostgres({ dataDir, logger: pino({ level: 'warn' }) });
  try {
    await migratePacketService(server.owner);
    await mayCheckpoint(server);
    return await work(makeContext(seconds, server.owner));
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Lets the owner of the tables write a checkpoint, so that none runs in the middle of a measurement. */
async function mayCheckpoint({ owner, backup }: EmbeddedPostgres): Promise<void> {
  const session = await backup.connect();
  await session.query(`GRANT pg_checkpoint TO ${session.escapeIdentifier(owner.user)}`);
  await session.end();
}

/** Whether wrk generates the load. */
const usesWrk = process.argv.includes('--wrk');

function makeContext(seconds: number, connection: EmbeddedPostgres['owner']): Context {
  const { host, port, user, password, database } = connection;
  const url = `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&port=${port}`;
  const environment = { DATABASE_URL: url, LOG_LEVEL: 'warn' };
  return {
    seconds,
    connection,
    startService: (extra = {}) =>
      startProcess(
        'dist/main.js',
        { ...environment, SERVICES: 'packet', PACKET_PORT: '0', ...extra },
        /packet service\s+\S+:(\d+)/,
      ),
    startTrace: (extra = {}) =>
      startProcess(
        'dist/main.js',
        { ...environment, SERVICES: 'trace', TRACE_PORT: '0', ...extra },
        /trace backend\s+\S+:(\d+)/,
      ),
    startConsole: (extra = {}) =>
      startProcess(
        'dist/main.js',
        { ...environment, PACKET_PORT: '0', TRACE_PORT: '0', CONSOLE_PORT: '0', ...extra },
        /fieldtrace console\s+\S+:(\d+)/,
      ),
    startScript: script => startProcess(`bench/programs/${script}`, environment, /^port (\d+)$/m),
    runScript: script => runProcess(`bench/programs/${script}`, { ...environment, SECONDS: String(seconds) }),
    load: load => (usesWrk ? runWrk : runLoad)({ seconds, ...load }),
  };
}

function startProcess(script: string, environment: Record<string, string>, ready: RegExp): Promise<Measured> {
  const { child, output } = launch(script, environment);
  return new Promise((resolve, reject) => {
    const ended = new Promise<void>(done => child.once('close', () => done()));
    ended.then(() => reject(new Error(`${script} ended:\n${output()}`)));
    const look = () => {
      const port = ready.exec(output())?.[1];
      if (!port) return;
      resolve({
        port: Number(port),
        pid: child.pid as number,
        async stop() {
          child.kill('SIGTERM');
          await ended;
        },
      });
    };
    child.stdout?.on('data', look);
    child.stderr?.on('data', look);
  });
}

async function runProcess(script: string, environment: Record<string, string>): Promise<string> {
  const { child, output } = launch(script, environment);
  const code = await new Promise(resolve => child.once('close', resolve));
  if (code !== 0) throw new Error(`${script} ended with ${code}:\n${output()}`);
  return output();
}

function launch(
  script: string,
  environment: Record<string, string>,
): { child: ChildProcess; output: () => string } {
  const child = spawn(process.execPath, [script], { cwd: ROOT, env: { ...process.env, ...environment } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', chunk => {
      text += chunk;
    });
  }
  return { child, output: () => text };
}

function runLoad(load: Load): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./load.ts', import.meta.url), { workerData: load });
    worker.once('message', (result: LoadResult) => {
      if (result.errors > 0)
        reject(new Error(`${result.errors} wrong answers, first:\n${result.firstError}`));
      else resolve(result);
    });
    worker.once('error', reject);
  });
}

/** The middle one of some measurements; an even count gives the lower middle. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[(values.length - 1) >> 1] as number;
}

/** Latencies in words. */
export function latencies({ p50, p95, p99 }: LoadResult): string {
  return `p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`;
}
