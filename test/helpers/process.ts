import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Send, sender } from './service.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

export interface RunningProcess {
  child: ChildProcess;
  url: string;
  send: Send;
  /** where the trace backend of the same process is */
  traceUrl: string;
  /** where its console is */
  consoleUrl: string;
  /** everything it printed so far, both streams */
  output(): string;
  /** what it printed to standard output: its log */
  log(): string;
  /** its exit code, once it has ended */
  ended: Promise<number | null>;
}

/** DATA_DIR of the test file's processes that name none. Those on one database must have the same files. */
const dataDir = mkdtempSync(path.join(tmpdir(), 'fieldtrace-test-data-'));
process.once('exit', () => rmSync(dataDir, { recursive: true, force: true }));

/**
 * Starts fieldtrace as `npm start` does, on a free port, and waits until it says where it is.
 *
 * @param stdout where its log goes, a file descriptor; without it `log()` has it
 */
export async function startProcess(
  environment: Record<string, string>,
  stdout: number | 'pipe' = 'pipe',
): Promise<RunningProcess> {
  const { child, output, log, ended } = launch(environment, stdout);
  const [url, traceUrl, consoleUrl] = await new Promise<[string, string, string]>((resolve, reject) => {
    child.stderr?.on('data', () => {
      const packet = /packet service\s+(http:\/\/\S+)/.exec(output())?.[1] as string;
      const trace = /trace backend\s+(http:\/\/\S+)/.exec(output())?.[1] as string;
      const pages = /console\s+(http:\/\/\S+)/.exec(output())?.[1] as string;
      const { SERVICES = 'packet,trace,console' } = environment;
      const isMissing = (name: string, found: string) => SERVICES.includes(name) && !found;
      if (isMissing('packet', packet) || isMissing('trace', trace) || isMissing('console', pages)) return;
      resolve([packet, trace, pages]);
    });
    ended.then(code => reject(new Error(`ended with ${code} before it served:\n${output()}`)));
  });
  return { child, url, traceUrl, consoleUrl, send: sender(url ?? traceUrl), output, log, ended };
}

/** Runs fieldtrace until it ends by itself, as it does when it cannot start. */
export async function runToEnd(
  environment: Record<string, string>,
): Promise<{ code: number | null; output: string }> {
  const { output, ended } = launch(environment);
  return { code: await ended, output: output() };
}

/** Starts fieldtrace without waiting for anything. */
export function launch(environment: Record<string, string>, stdout: number | 'pipe' = 'pipe') {
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: ROOT,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PACKET_PORT: '0',
      TRACE_PORT: '0',
      CONSOLE_PORT: '0',
      DATA_DIR: dataDir,
      ...environment,
    } as NodeJS.ProcessEnv,
    stdio: ['ignore', stdout, 'pipe'],
  });
  let text = '';
  let log = '';
  child.stdout?.on('data', chunk => {
    text += chunk;
    log += chunk;
  });
  child.stderr?.on('data', chunk => {
    text += chunk;
  });
  const ended = new Promise<number | null>(resolve => child.on('close', code => resolve(code)));
  return { child, output: () => text, log: () => log, ended };
}
