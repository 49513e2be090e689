import { spawn } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/helpers/eventually.ts';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import { beginRun, readRuns } from './runs.ts';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let lines: { msg: string; pid?: number }[];
const logger = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
beforeEach(async () => {
  folder = await temporaryFolder();
  lines = [];
});
afterEach(() => folder.remove());

/** A process that has begun a run, as text of a module. */
function another(dataDir: string) {
  const module = path.join(import.meta.dirname, 'runs.ts');
  const script = `import { beginRun } from ${JSON.stringify(module)};
    await beginRun(${JSON.stringify(dataDir)}, { debug(fields) { throw fields.err; } });
    setInterval(() => {}, 1000);`;
  return spawn(
    process.execPath,
    ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', script],
    {
      stdio: ['ignore', 'inherit', 'pipe'],
    },
  );
}

test('a process that was killed is found by the next one, once, and remembered', async () => {
  const child = another(folder.folder);
  const errors = text(child.stderr);
  await eventually(async () => (await readRuns(folder.folder)).running.length === 1);
  const end = await beginRun(folder.folder, logger);
  expect(lines).toEqual([]);
  expect((await readRuns(folder.folder)).running.map(({ pid }) => pid).toSorted()).toEqual(
    [child.pid, process.pid].toSorted(),
  );
  await end();

  child.kill('SIGKILL');
  await new Promise(resolve => child.once('close', resolve));
  expect(await errors).toBe('');
  const { running, killed } = await readRuns(folder.folder);
  expect([running, killed.map(({ pid, found }) => [pid, found])]).toEqual([[], [[child.pid, undefined]]]);
  for (let n = 0; n < 2; n++) await (await beginRun(folder.folder, logger))();
  expect(lines).toEqual([
    expect.objectContaining({ pid: child.pid, msg: expect.stringContaining('ended without stopping') }),
  ]);
  expect((await readRuns(folder.folder)).killed).toEqual([
    expect.objectContaining({ pid: child.pid, found: expect.any(String) }),
  ]);
  expect((await readdir(path.join(folder.folder, 'runs'))).filter(name => name.endsWith('.lock'))).toEqual(
    [],
  );
});

test('a DATA_DIR that cannot be written to has no notes, and the process starts', async () => {
  await (await beginRun('/dev/null/nowhere', logger))();
  expect(await readRuns('/dev/null/nowhere')).toEqual({ running: [], killed: [] });
});
