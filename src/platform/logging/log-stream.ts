import { writeSync } from 'node:fs';
import type { DestinationStream } from 'pino';

/** How long a line waits for a pipe whose reader is behind, in milliseconds. */
const PATIENCE_MS = 100;

// A process has one log.
let dropped = 0;

/** The number of lines of the log that this process could not write. */
export const countDroppedLines = (): number => dropped;

/**
 * A destination for the log that never fails and never waits for long. A line that cannot be written, because the disk
 * is full, the reader of a pipe is gone or does not read, is dropped and counted. The next line that can be written
 * follows one that says how many are missing.
 *
 * @param fd file descriptor; a pipe must be non-blocking, as those of process.stdout and process.stderr are
 */
export function logStream(fd: number): DestinationStream {
  let missing = 0;
  let isTorn = false;

  function write(text: string): boolean {
    let rest = Buffer.from(isTorn ? `\n${text}` : text);
    let mayWait = missing === 0;
    while (rest.length > 0) {
      try {
        const written = writeSync(fd, rest);
        if (written > 0) isTorn = true;
        rest = rest.subarray(written);
      } catch (error) {
        if (!mayWait || (error as NodeJS.ErrnoException).code !== 'EAGAIN') return false;
        mayWait = false;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PATIENCE_MS);
      }
    }
    isTorn = false;
    return true;
  }

  return {
    write(line) {
      if (missing > 0 && write(noteOf(missing))) missing = 0;
      if (missing === 0 && write(line)) return;
      missing++;
      dropped++;
    },
  };
}

function noteOf(lines: number): string {
  const msg = 'lines of the log could not be written';
  return `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), lines, msg })}\n`;
}
