import { execFile } from 'node:child_process';
import { chmod, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { eventually } from './eventually.ts';
import { temporaryFolder } from './folder.ts';
import { freePort } from './free-port.ts';
import { installPackage } from './package.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const MARK = '--- end of block ---';
/** The ports that guides write: of the services, of a second copy of them, and of a proxy. */
const WRITTEN_PORTS = ['8000', '8080', '8001', '8081', '8443', '8444', '8090', '8091'];

/** Runs `npm start` in the background until it serves. */
const START = `#!/bin/sh
"$NODE" --disable-warning=ExperimentalWarning "$ROOT/dist/main.js" >> service.log 2>&1 &
echo $! >> service.pids
curl -sf -o /dev/null --retry-connrefused --retry 200 --retry-delay 1 --retry-max-time 100 \
  "http://127.0.0.1:$PACKET_PORT/health/live" || { cat service.log >&2; exit 1; }
`;

/** The result of a guide. */
export interface Followed {
  /** what each shell block printed; the answers of several curls are in separate lines */
  outputs: string[];
  /** the folder that it was followed in */
  folder: string;
  /** the addresses of the services */
  url: string;
  traceUrl: string;
  /** Ends the services, and removes the folder. */
  end(): Promise<void>;
}

/**
 * Follows a guide as somebody new would: every shell block of it, whole and in order, pasted into one shell in an empty
 * folder, whose services keep their data in `./data`. A guide that does not start the services itself begins with
 * `npm start`. Only ports are changed, so that tests can run at the same time, and hosts of others.
 *
 * @param file path from the root of the project
 * @param hosts addresses of others, and of what is there instead of them
 */
export async function followGuide(file: string, hosts: Record<string, string> = {}): Promise<Followed> {
  const text = await readFile(path.join(ROOT, file), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(match => match[1] as string);
  const ports = new Map(
    await Promise.all(WRITTEN_PORTS.map(async port => [port, await freePort()] as const)),
  );
  const { folder, remove } = await temporaryFolder();
  // A proxy that root starts works as another user.
  await chmod(folder, 0o755);
  await installPackage(path.join(folder, 'node_modules'));
  await symlink(path.join(ROOT, 'deploy'), path.join(folder, 'deploy'));
  await writeFile(path.join(folder, 'start'), START, { mode: 0o755 });
  const begin = blocks.some(block => /\bnpm start$/m.test(block)) ? [] : ['./start\n'];
  let script = [...begin, ...blocks.map(block => `${separated(block)}\nprintf '\\n${MARK}\\n'\n`)].join('');
  for (const [host, instead] of Object.entries(hosts)) script = script.replaceAll(host, instead);
  script = script
    .replaceAll(/\bnpm start$/gm, './start')
    .replaceAll(new RegExp(`\\b(${WRITTEN_PORTS.join('|')})\\b`, 'g'), port => String(ports.get(port)));
  const environment = {
    PATH: `${process.env.PATH}:/usr/sbin`,
    NODE: process.execPath,
    ROOT,
    PACKET_PORT: String(ports.get('8000')),
    TRACE_PORT: String(ports.get('8080')),
    CONSOLE_PORT: String(ports.get('8090')),
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    npm_config_cache: path.join(folder, 'npm-cache'),
    npm_config_registry: 'http://127.0.0.1:1',
  };
  const end = async () => {
    await endServices(folder);
    await remove();
  };
  // Also if the test fails.
  onTestFinished(end);
  try {
    const options = { cwd: folder, env: environment as unknown as NodeJS.ProcessEnv, timeout: 300_000 };
    const { stdout } = await promisify(execFile)('sh', ['-e', '-c', script], options);
    const outputs = stdout.split(`${MARK}\n`).slice(0, -1);
    return {
      outputs: outputs.map(output => output.trim()),
      folder,
      url: `http://127.0.0.1:${ports.get('8000')}`,
      traceUrl: `http://127.0.0.1:${ports.get('8080')}`,
      end,
    };
  } catch (error) {
    const log = await readFile(path.join(folder, 'service.log'), 'utf8').catch(() => '');
    await end();
    throw new Error(
      `${(error as Error).message}\n${(error as { stdout?: string }).stdout}\n${log.slice(-3000)}`,
    );
  }
}

/** A block whose answers are on lines of their own. */
function separated(block: string): string {
  return block.replaceAll(/\n+curl/g, '\necho; curl');
}

async function endServices(folder: string): Promise<void> {
  const pids = await readFile(path.join(folder, 'service.pids'), 'utf8').catch(() => '');
  for (const pid of pids.split('\n').filter(Boolean).map(Number)) {
    if (isRunning(pid)) process.kill(pid, 'SIGTERM');
    await eventually(
      async () => isRunning(pid),
      running => !running,
    );
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
