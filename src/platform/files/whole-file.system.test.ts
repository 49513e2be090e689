import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../test/helpers/folder.ts';

interface TraceEvent {
  name: string;
  ph: string;
  args: { path?: string; new_path?: string };
}

/** The file system calls of a program that imports a module, in order, from Node's own trace. */
async function fileCalls(folder: string, module: string, call: string): Promise<string[]> {
  const trace = path.join(folder, 'trace.json');
  const program = `const module = await import('${import.meta.resolve(module)}'); await module.${call};`;
  const flags = ['--trace-event-categories', 'node.fs.async', '--trace-event-file-pattern', trace];
  execFileSync(process.execPath, [...flags, '--input-type=module', '--eval', program]);
  const { traceEvents } = JSON.parse(await readFile(trace, 'utf8')) as { traceEvents: TraceEvent[] };
  return traceEvents
    .filter(({ ph }) => ph === 'b')
    .map(({ name, args: { path: opened, new_path } }) => `${name} ${opened ?? new_path ?? ''}`.trim());
}

test('a file is written as a whole: its bytes are synced before it gets its name, and its folder after', async () => {
  const { folder, remove } = await temporaryFolder();
  const calls = await fileCalls(
    folder,
    './whole-file.ts',
    `writeWhole('${folder}', 'kept', Buffer.from('bytes'))`,
  );
  const renamed = calls.indexOf(`rename ${path.join(folder, 'kept')}`);
  expect(calls.slice(0, renamed)).toContain('fsync');
  expect(calls.slice(renamed + 1)).toEqual([`open ${folder}`, 'fsync', 'close']);
  expect(await readFile(path.join(folder, 'kept'), 'utf8')).toBe('bytes');
  await remove();
});
