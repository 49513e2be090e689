import type { Readable } from 'node:stream';
import { endsWithin } from '../../platform/concurrency/ends-within.ts';

/** How long a writer is left alone, in milliseconds: one whose connection broke ends once it has read what came. */
const GRACE_MS = 1000;
/** How long a writer that was ended may take to keep what it has; then the others go on without waiting. */
const PATIENCE_MS = 10_000;

/** Who is writing which upload in this process. */
export interface Writers {
  /** Reads `stream` for an upload; whoever else comes for the same upload ends it. */
  write<Result>(uploadId: string, stream: Readable, work: () => Promise<Result>): Promise<Result>;
  /** Ends whoever is writing an upload and waits until what had come is kept. Returns whether there was anybody. */
  release(uploadId: string): Promise<boolean>;
}

/**
 * A client that comes back has given up its earlier request, which may not have noticed yet: it is ended, so that the
 * client is told of every byte it sent. That is a courtesy inside one process; what keeps an upload whole, here and
 * across processes, is `appendPiece`.
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
      entry.stream.destroy(new Error('the client came back in another request'));
      await endsWithin(entry.done, PATIENCE_MS);
      return true;
    },
  };
}
