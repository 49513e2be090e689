import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import type { Connection } from '../../src/platform/database/database.ts';
import { type RunningProcess, startProcess } from '../helpers/process.ts';
import { openRelay, type Relay } from '../helpers/relay.ts';
import { JWT_SECRET } from '../helpers/user-registry.ts';
import type { Targets } from './client.ts';
import { type Mailbox, openMailbox } from './mailbox.ts';
import { ADMIN } from './world.ts';

export const FIRST_ADMIN = { TRACE_ADMIN_EMAIL: ADMIN.email, TRACE_ADMIN_PASSWORD: ADMIN.password };
/** Rest before a process is asked again whether it serves, in milliseconds: each time it tries to connect. */
const AGAIN_MS = 100;
export const COMMON = { DATABASE_POOL: '4', LOG_LEVEL: 'error', USER_REGISTRY_JWT_SECRET: JWT_SECRET };

/**
 * Processes of fieldtrace on one database: the first serves both services and brings the embedded PostgreSQL, the
 * others are packet services that reach it through a network which can fail.
 */
export interface Stage {
  /** the processes that run; undefined where one was ended and not started again */
  readonly processes: (RunningProcess | undefined)[];
  readonly relay: Relay;
  /** gets the mails of all processes */
  readonly mailbox: Mailbox;
  /** the database without the network that fails */
  readonly database: Connection;
  readonly folder: string;
  readonly targets: Targets;
  /** Starts a process that was ended. */
  start(at: number): Promise<void>;
  /** Ends a process at once; resolves when it is gone. */
  kill(at: number): Promise<void>;
  /** Process ids of the server itself, and of its sessions with fieldtrace. */
  postmaster(): Promise<number>;
  sessions(): Promise<number[]>;
  /** Waits until every process takes an observation, and the trace backend answers out of its database. */
  served(): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param size of a disk for DATA_DIR alone, such as 512m; for root on Linux
 * @param settings of all processes, stronger than those that they have otherwise
 */
export async function openStage(
  processes: number,
  size?: string,
  settings: Record<string, string> = {},
): Promise<Stage> {
  const folder = await mkdtemp('/tmp/fieldtrace-faults-');
  await chmod(folder, 0o755);
  if (size !== undefined)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=755`, 'tmpfs', folder]);
  const running: (RunningProcess | undefined)[] = [];
  const mailbox = await openMailbox();
  try {
    const common = { ...COMMON, ...settings };
    return await startStage(folder, running, { mailbox, processes, mounted: size !== undefined, common });
  } catch (error) {
    await endProcesses(running);
    await mailbox.stop();
    await removeFolder(folder, size !== undefined);
    throw error;
  }
}

async function startStage(
  folder: string,
  running: (RunningProcess | undefined)[],
  {
    mailbox,
    processes,
    mounted,
    common: settings,
  }: { mailbox: Mailbox; processes: number; mounted: boolean; common: Record<string, string> },
): Promise<Stage> {
  // What the processes compile is kept: most of a start is that.
  const { NODE_COMPILE_CACHE = path.join(folder, 'compiled') } = process.env;
  const common = { ...settings, SMTP_URL: mailbox.url, NODE_COMPILE_CACHE };
  const first = () => startProcess({ ...common, ...FIRST_ADMIN, DATA_DIR: folder });
  running[0] = await first();
  const password = (await readFile(path.join(folder, 'postgres/password'), 'utf8')).trim();
  const [user, database] = ['fieldtrace', 'fieldtrace'];
  const connection = { host: path.join(folder, 'postgres/socket'), port: 5432, user, password, database };
  const relay = await openRelay(connection);
  const { port } = relay.connection as { port: number };
  const further = () =>
    startProcess({
      ...common,
      SERVICES: 'packet',
      DATA_DIR: folder,
      DATABASE_URL: `postgres://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
    });
  for (let at = 1; at < processes; at++) running[at] = await further();

  const stage: Stage = {
    processes: running,
    relay,
    mailbox,
    database: connection,
    folder,
    targets: service => running.flatMap(child => (service === 'packet' ? child?.url : child?.traceUrl) ?? []),
    async start(at) {
      running[at] = await (at === 0 ? first() : further());
    },
    async kill(at) {
      const killed = running[at];
      running[at] = undefined;
      killed?.child.kill('SIGKILL');
      await killed?.ended;
    },
    async postmaster() {
      const file = path.join(folder, 'postgres/data/postmaster.pid');
      return Number((await readFile(file, 'utf8')).split('\n')[0]);
    },
    sessions: () => sessionsOf(connection),
    async served() {
      await Promise.all(running.flatMap(child => (child ? [takes(child.url), answers(child.traceUrl)] : [])));
    },
    async close() {
      relay.heal();
      await endProcesses(running);
      await relay.close();
      await mailbox.stop();
      await removeFolder(folder, mounted);
    },
  };
  return stage;
}

async function sessionsOf(connection: Connection): Promise<number[]> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'fieldtrace' AND backend_type = 'client backend'",
    );
    return rows.map(({ pid }) => pid);
  } finally {
    await client.end();
  }
}

export const takes = (url: string) =>
  untilTaken(`${url}/intake/scouting`, {
    observed_at: '2026-03-01T08:15:00Z',
    capture_point: { lat: 1, lon: 2 },
  });

/** Nobody has this address; requests for a mail do not reveal that. */
export async function answers(url: string | undefined): Promise<void> {
  if (url) await untilTaken(`${url}/api/user/request_reset_password`, { email: 'nobody@example.org' });
}

async function untilTaken(url: string, body: object): Promise<void> {
  for (;;) {
    const sent = fetch(url, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(30_000),
    });
    if ((await sent.catch(() => undefined))?.ok) return;
    await wait(AGAIN_MS);
  }
}

/** The one with the server is the last. */
export async function endProcesses(running: readonly (RunningProcess | undefined)[]): Promise<void> {
  for (const started of [...running].reverse()) {
    started?.child.kill('SIGTERM');
    await started?.ended;
  }
}

async function removeFolder(folder: string, mounted: boolean): Promise<void> {
  if (mounted) execFileSync('umount', [folder]);
  await rm(folder, { recursive: true, force: true });
}

/** Fills the disk of a stage to its last byte; gives what frees it. */
export async function fillDisk(folder: string): Promise<() => Promise<void>> {
  const name = path.join(folder, 'filler');
  const file = await open(name, 'w');
  for (let piece = Buffer.alloc(1024 * 1024); piece.length >= 512; ) {
    const written = await file.write(piece).then(
      ({ bytesWritten }) => bytesWritten,
      () => 0,
    );
    if (written < piece.length) piece = piece.subarray(0, piece.length >> 1);
  }
  await file.close();
  return () => rm(name, { force: true });
}
