import type { Readable } from 'node:stream';
import { endsWithin } from '../../../platform/concurrency/ends-within.ts';

/**
 * Milliseconds before a writer is ended: one whose connection broke ends on its own once it has read the received
 * bytes.
 */
const GRACE_MS = 1000;
/** How long an ended writer may take to store what it has; after that, others do not wait for it. */
const PATIENCE_MS = 10_000;

/** The uploads being written in this process. */
export interface Writers {
  /** Reads `stream` for an upload; another request for the same upload ends it. */
  write<Result>(uploadId: string, stream: Readable, work: () => Promise<Result>): Promise<Result>;
  /**
   * Ends the current writer of an upload and waits until the received bytes are stored. Returns whether there was
   * one.
   */
  release(uploadId: string): Promise<boolean>;
}

/**
 * A client that reconnects has given up its earlier request, which may not have noticed yet: it is ended, so that the
 * client gets an offset that includes every byte it sent. That is an optimisation within one process; `appendPiece`
 * guarantees consistency across processes.
 */
export function writers(): Writers {
  const running = new Map<string, { stream: Readable; done: Promise<void> }>();
  return {
    async write(uploadId, stream, work) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const entry = { stream, done: promise };
      running.set(uploadId, entry);
      try {
        return await work();
      } finally {
        if (running.get(uploadId) === entry) running.delete(uploadId);
        resolve();
      }
    },
    async release(uploadId) {
      const entry = running.get(uploadId);
      if (!entry) return false;
      if (await endsWithin(entry.done, GRACE_MS)) return true;
      entry.stream.destroy(new Error('the client continued in another request'));
      await endsWithin(entry.done, PATIENCE_MS);
      return true;
    },
  };
}
