import { afterAll } from 'vitest';
import { processorSeconds } from './processor-time.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** seconds of processor time that a test file has used, in its worker and in the processes that it started */
    processorSeconds?: number;
  }
}

/** Where the next file of this worker begins. Workers keep `process` from file to file, and forget modules. */
const COUNTED = Symbol.for('fieldtrace.counted-processor-seconds');
const worker = process as NodeJS.Process & { [COUNTED]?: number };

// A setup file: it runs in every test file, so that the reporter can list the most expensive ones (costly-files.ts).
// biome-ignore lint/correctness/noEmptyPattern: vitest takes the names of its fixtures from this pattern
afterAll(({}, file) => {
  const now = processorSeconds();
  file.meta.processorSeconds = now - (worker[COUNTED] ?? 0);
  worker[COUNTED] = now;
});
