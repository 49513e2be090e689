import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Context, median, type Row } from './context.ts';

/** From the start of the process to its first answer: on an empty DATA_DIR, and on one that has been used. */
export async function startRows(_context: Context): Promise<Row[]> {
  const first: number[] = [];
  const warm: number[] = [];
  for (let round = 0; round < 3; round++) {
    const dataDir = await mkdtemp(path.join(tmpdir(), 'fieldtrace-bench-'));
    first.push(await startOnce(dataDir));
    warm.push(await startOnce(dataDir));
    for (const folder of [dataDir, `${dataDir}-compiled`]) await rm(folder, { recursive: true, force: true });
  }
  return [
    { name: 'first start to the first answer', value: median(first), unit: 's' },
    { name: 'warm start to the first answer', value: median(warm), unit: 's' },
  ];
}

/** @returns seconds until the first answer */
export async function startOnce(dataDir: string, environment: Record<string, string> = {}): Promise<number> {
  const begin = performance.now();
  const child = spawn(process.execPath, ['dist/main.js'], {
    cwd: path.resolve(import.meta.dirname, '..'),
    env: {
      ...process.env,
      DATA_DIR: dataDir,
      // As npm start has it: a first start fills it.
      NODE_COMPILE_CACHE: `${dataDir}-compiled`,
      PACKET_PORT: '0',
      TRACE_PORT: '0',
      CONSOLE_PORT: '0',
      LOG_LEVEL: 'warn',
      ...environment,
    },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  const ended = new Promise(resolve => child.once('close', resolve));
  const url = await new Promise<string>(resolve => {
    let text = '';
    child.stderr.on('data', chunk => {
      text += chunk;
      const match = /packet service\s+(\S+)/.exec(text);
      if (match) resolve(match[1] as string);
    });
  });
  const { ok } = await fetch(`${url}/health`);
  if (!ok) throw new Error('the service is not healthy after its start');
  const seconds = (performance.now() - begin) / 1000;
  child.kill('SIGTERM');
  await ended;
  return seconds;
}
