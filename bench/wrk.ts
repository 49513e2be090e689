import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Load, LoadResult, RequestMaker } from './load.ts';

/** Number of requests in a file; wrk repeats them. */
const REQUESTS = 5000;

/** The results that bench/programs/wrk.lua prints; latencies in microseconds. */
interface Printed {
  answers: number;
  microseconds: number;
  /** answers of status 400 and above */
  refused: number;
  /** requests without an answer */
  broken: number;
  p50: number;
  p95: number;
  p99: number;
}

/**
 * Runs a load by wrk, which takes less processor time than `load.ts` and therefore leaves the service more.
 *
 * @throws if wrk is not installed or a request got no answer
 */
export async function runWrk({ port, connections, seconds, requests, options }: Load): Promise<LoadResult> {
  const { default: maker } = await import(new URL(requests, import.meta.url).href);
  const request: RequestMaker = maker(options);
  const folder = await mkdtemp(path.join(tmpdir(), 'fieldtrace-wrk-'));
  try {
    const file = path.join(folder, 'requests');
    await writeFile(
      file,
      Array.from({ length: REQUESTS }, (_, n) => framed(request(n))),
    );
    const printed = await wrk([
      ...['--threads', '1', '--connections', `${connections}`, '--duration', `${seconds}s`],
      ...['--script', path.join(import.meta.dirname, 'programs/wrk.lua'), `http://127.0.0.1:${port}`, file],
    ]);
    const { answers, microseconds, refused, broken, p50, p95, p99 } = printed;
    if (broken > 0) throw new Error(`${broken} requests of wrk got no answer`);
    return {
      answers,
      errors: refused,
      perSecond: (answers * 1e6) / microseconds,
      p50: p50 / 1000,
      p95: p95 / 1000,
      p99: p99 / 1000,
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function framed(request: Buffer | string): Buffer {
  const bytes = Buffer.from(request as string);
  return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}

function wrk(parameters: readonly string[]): Promise<Printed> {
  return new Promise((resolve, reject) => {
    const child = spawn('wrk', parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', chunk => {
      output += chunk;
    });
    child.once('error', reject);
    child.once('close', code => {
      const line = output.trimEnd().split('\n').at(-1) ?? '';
      if (code === 0 && line.startsWith('{')) resolve(JSON.parse(line));
      else reject(new Error(`wrk ended with ${code}:\n${output}`));
    });
  });
}
