import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../test/helpers/folder.ts';
import { countDroppedLines, logStream } from './log-stream.ts';
import { makeLogger } from './logger.ts';

/** A pipe that this process reads and writes. */
async function openPipe(): Promise<{ fd: number; read: () => string }> {
  const { folder, remove } = await temporaryFolder();
  const name = path.join(folder, 'pipe');
  execFileSync('mkfifo', [name]);
  const fd = openSync(name, constants.O_RDWR | constants.O_NONBLOCK);
  onTestFinished(async () => {
    closeSync(fd);
    await remove();
  });
  const buffer = Buffer.alloc(1024 * 1024);
  return { fd, read: () => buffer.toString('utf8', 0, readSync(fd, buffer)) };
}

test('a line that the disk has no room for is dropped and counted', () => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  const before = countDroppedLines();
  const logger = makeLogger('info', logStream(fd));
  for (let n = 0; n < 3; n++) logger.info('a line');
  expect(countDroppedLines() - before).toBe(3);
});

test('lines are dropped while the reader of a pipe does not read; the next line follows their count', async () => {
  const { fd, read } = await openPipe();
  const before = countDroppedLines();
  const logger = makeLogger('info', logStream(fd));
  // More than PIPE_BUF bytes, so that the last one that finds room is cut.
  const long = 'x'.repeat(10_000);
  while (countDroppedLines() - before < 3) logger.info({ long }, 'a line');
  const [cut, ...whole] = read().split('\n').reverse();
  expect(whole.length).toBeGreaterThan(3);
  for (const line of whole) expect(JSON.parse(line)).toMatchObject({ msg: 'a line', long });
  expect(cut).toMatch(/^\{"level":"info".*x$/);

  for (const msg of ['first', 'second']) logger.info(msg);
  const after = read().split('\n');
  expect(after.shift()).toBe('');
  expect(after.pop()).toBe('');
  expect(after.map(line => JSON.parse(line))).toMatchObject([
    { level: 'warn', msg: 'lines of the log could not be written', lines: 3 },
    { level: 'info', msg: 'first' },
    { level: 'info', msg: 'second' },
  ]);
  expect(countDroppedLines() - before).toBe(3);
});
