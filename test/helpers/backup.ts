import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { generateX25519Identity } from 'age-encryption';
import pg from 'pg';
import { eventually } from './eventually.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { sender } from './service.ts';

/** A key that costs nothing to check, unlike a passphrase. */
export const BACKUP_KEY = await generateX25519Identity();

/** Seconds of writes at risk: enough for a machine that is busy with other tests. */
export const LAG_SECONDS = 4;

/** Settings of a service whose DATA_DIR is backed up into a folder. */
export function backupSettings(dataDir: string, target: string): Record<string, string> {
  return {
    DATA_DIR: dataDir,
    BACKUP_URL: target.includes('://') ? target : `file://${target}`,
    BACKUP_KEY,
    BACKUP_MAX_LAG_SECONDS: String(LAG_SECONDS),
    BACKUP_MAX_MIB_PER_SECOND: '1000',
    TRACE_ADMIN_EMAIL: 'admin@example.org',
    TRACE_ADMIN_PASSWORD: 'an administrator',
  };
}

/** Runs a command to its end. */
export function fieldtrace(
  environment: Record<string, string>,
  ...words: string[]
): Promise<{ code: number; out: string; err: string }> {
  const child = spawnFieldtrace(environment, ...words);
  return child.ended;
}

/** Starts a command. */
export function spawnFieldtrace(environment: Record<string, string>, ...words: string[]) {
  const root = path.resolve(import.meta.dirname, '../..');
  const env = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    ...environment,
  };
  const ended = Promise.withResolvers<{ code: number; out: string; err: string }>();
  const child = execFile(
    process.execPath,
    ['dist/cli.js', ...words],
    { cwd: root, env },
    (_error, out, err) => ended.resolve({ code: child.exitCode ?? -1, out, err }),
  );
  return { child, ended: ended.promise };
}

/** The shell blocks of the chapter about backups in docs/operations.md, by the heading that they are under. */
export async function runbooks(): Promise<Map<string, string>> {
  const text = await readFile(path.resolve(import.meta.dirname, '../../docs/operations.md'), 'utf8');
  const chapter = text.slice(text.indexOf('## Backup and restore'), text.indexOf('## Erasing a packet'));
  const blocks = [...chapter.matchAll(/^##+ (.*)$|```sh\n([\s\S]*?)```/gm)];
  let heading = '';
  const found = new Map<string, string>();
  for (const [, title, block] of blocks) {
    if (title !== undefined) heading = title;
    else if (block !== undefined) found.set(heading, block);
  }
  return found;
}

/**
 * Follows a runbook as an operator would, up to the service that its last line starts.
 *
 * @param replacements what the operator's own values are
 */
export async function followRunbook(
  runbook: string,
  replacements: Record<string, string>,
  environment: Record<string, string>,
): Promise<{
  service: Pick<RunningProcess, 'child' | 'ended' | 'send' | 'url' | 'traceUrl'>;
  output: () => string;
}> {
  let script = runbook;
  for (const [written, own] of Object.entries(replacements)) script = script.replaceAll(written, own);
  script = script
    .replaceAll('npx fieldtrace', '"$NODE" dist/cli.js')
    .replace(/^((?:\w+=\S* )+)npm start$/m, 'exec env $1 "$NODE" dist/main.js');
  const env = {
    PATH: process.env.PATH,
    NODE: process.execPath,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    PACKET_PORT: '0',
    TRACE_PORT: '0',
    CONSOLE_PORT: '0',
    ...environment,
  };
  const cwd = path.resolve(import.meta.dirname, '../..');
  const child = spawn('sh', ['-ec', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', chunk => (text += chunk));
  const ended = new Promise<number | null>(resolve => child.on('close', code => resolve(code)));
  const [url, traceUrl] = await new Promise<[string, string]>((resolve, reject) => {
    child.stderr.on('data', () => {
      const packet = /packet service\s+(http:\/\/\S+)/.exec(text)?.[1];
      const trace = /trace backend\s+(http:\/\/\S+)/.exec(text)?.[1];
      if (packet && trace) resolve([packet, trace]);
    });
    ended.then(code => reject(new Error(`ended with ${code}:\n${text}`)));
  });
  return { service: { child, ended, url, traceUrl, send: sender(url) }, output: () => text };
}

/** The detail of /health/ready about backups. */
export async function backupHealth({
  send,
}: Pick<RunningProcess, 'send'>): Promise<{ status: string; message: string }> {
  const { body } = await send('GET', '/health/ready');
  return body.details.find(({ name }: { name: string }) => name === 'backup');
}

/** Starts a service, and waits until its first base backup is complete. */
export async function startBackedUp(environment: Record<string, string>): Promise<RunningProcess> {
  const service = await startProcess(environment);
  await eventually(
    () => backupHealth(service),
    ({ status }) => status === 'OK',
  );
  return service;
}

/** A session of the embedded server's superuser. */
export async function withSuperuser<Result>(
  dataDir: string,
  work: (client: pg.Client) => Promise<Result>,
  database = 'postgres',
): Promise<Result> {
  const client = new pg.Client({
    host: path.join(dataDir, 'postgres/socket'),
    user: 'fieldtrace_superuser',
    password: (await readFile(path.join(dataDir, 'postgres/superuser-password'), 'utf8')).trim(),
    database,
    ssl: false,
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** Closes segments of the log, each of which takes the room of a full one; gives the name of the last. */
export async function closeSegments(dataDir: string, count: number): Promise<string> {
  return withSuperuser(dataDir, async client => {
    let last = '';
    for (let number = 0; number < count; number++) {
      await client.query("SELECT pg_logical_emit_message(true, 'test', 'closed')");
      const { rows } = await client.query('SELECT pg_walfile_name(pg_switch_wal()) AS name');
      last = rows[0].name;
    }
    return last;
  });
}

/** Waits until everything that was written until now is in the target. */
export async function untilShipped(dataDir: string): Promise<void> {
  const closed = await closeSegments(dataDir, 1);
  await eventually(
    async () => JSON.parse(await readFile(path.join(dataDir, 'backup/shipped.json'), 'utf8')),
    ({ last }) => last >= closed,
  );
}

const PLACE = { observed_at: '2026-03-01T08:15:00Z', capture_point: { lat: 1, lon: 2 } };

/** Sends an observation; gives its id. */
export async function observe({ send }: Pick<RunningProcess, 'send'>, more: object = {}): Promise<string> {
  const { status, body, text } = await send('POST', '/intake/scouting', { ...PLACE, ...more });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return body.packet_uuid;
}

/** Which of some packets a service has. */
export async function which(
  { send }: Pick<RunningProcess, 'send'>,
  ids: readonly string[],
): Promise<string[]> {
  const found: string[] = [];
  for (const id of ids) if ((await send('GET', `/packets/${id}`)).status === 200) found.push(id);
  return found;
}

/** Ends a service and its PostgreSQL as a power cut would. */
export async function killEverything(service: RunningProcess, dataDir: string): Promise<void> {
  const pid = Number.parseInt(await readFile(path.join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10);
  service.child.kill('SIGKILL');
  process.kill(pid, 'SIGKILL');
  await service.ended;
}
