import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MARK = '--- end of block ---';

/** The address that guides write and readers see; the same of the trace backend; and the folder of data. */
const WRITTEN = 'http://127.0.0.1:8000';
const WRITTEN_TRACE = 'http://127.0.0.1:8080';
const WRITTEN_DATA = / data\//g;

/**
 * Runs the shell blocks of a guide as a reader would type them, one after the other in one shell, against a
 * running service.
 *
 * @param file path from the root of the project
 * @param keep which blocks to run
 * @param trace where the trace backend is, and the folder of data, for guides about it
 * @returns what each of them printed; the answers of several curls are in separate lines
 */
export async function runGuide(
  file: string,
  url: string,
  keep: (block: string) => boolean,
  trace?: { url: string; folder: string },
): Promise<string[]> {
  const text = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/```sh\n([\s\S]*?)```/g)].map(match => match[1] as string).filter(keep);
  const script = blocks
    .map(block => `${block.replaceAll(/\n+curl/g, '\necho; curl')}\nprintf '\\n${MARK}\\n'`)
    .join('\n')
    .replaceAll(WRITTEN, url)
    .replaceAll(WRITTEN_TRACE, trace?.url ?? WRITTEN_TRACE)
    .replaceAll(WRITTEN_DATA, ` ${trace?.folder ?? 'data'}/`);
  const { stdout } = await run('sh', ['-e', '-c', script], { timeout: 120_000 });
  return stdout
    .split(`${MARK}\n`)
    .slice(0, -1)
    .map(output => output.trim());
}

/** The JSON values that a block printed, one a line. */
export function jsonLines(output: string): unknown[] {
  return output
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
}
