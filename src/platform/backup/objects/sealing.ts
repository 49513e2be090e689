import { Worker } from 'node:worker_threads';
import type { SealAnswer, SealRequest } from './seal-worker.ts';

type SealCommand = SealRequest extends infer Request
  ? Request extends { id: number }
    ? Omit<Request, 'id'>
    : never
  : never;
type Answered = { bytes: Uint8Array; identity?: string };

/** The thread has ended, as it does when the process stops: this says nothing about the bytes. */
export class SealingEnded extends Error {}

/** Compresses and encrypts in threads, away from the event loop. */
export interface Sealing {
  /** @throws Error when the thread cannot do it, such as when bytes were changed; SealingEnded */
  request(request: SealCommand): Promise<Answered>;
  close(): Promise<void>;
}

/**
 * @param threads that work at the same time
 * @param niceness of the threads (setpriority(2)): higher ones give way to threads that answer requests
 */
export function openSealing(threads: number, niceness = 0): Sealing {
  const all = Array.from({ length: threads }, () => openThread(niceness));
  return {
    request(request) {
      const idlest = all.reduce((best, thread) => (thread.waiting() < best.waiting() ? thread : best));
      return idlest.request(request);
    },
    async close() {
      await Promise.all(all.map(thread => thread.end()));
    },
  };
}

function openThread(niceness: number) {
  const worker = new Worker(new URL('./seal-worker.ts', import.meta.url), { workerData: { niceness } });
  const waiting = new Map<number, PromiseWithResolvers<Answered>>();
  let count = 0;
  let failure: SealingEnded | undefined;
  // It keeps no process alive that has nothing else to do.
  worker.unref();
  worker.on('message', (answer: SealAnswer) => {
    const pending = waiting.get(answer.id);
    waiting.delete(answer.id);
    if (waiting.size === 0) worker.unref();
    if ('error' in answer) pending?.reject(new Error(answer.error));
    else pending?.resolve(answer);
  });
  worker.on('error', error => {
    failure = new SealingEnded(`the thread that encrypts backups failed`, { cause: error });
  });
  worker.on('exit', () => {
    failure ??= new SealingEnded('the thread that encrypts backups has ended');
    for (const { reject } of waiting.values()) reject(failure);
    waiting.clear();
  });
  return {
    waiting: () => waiting.size,
    request(request: SealCommand): Promise<Answered> {
      if (failure) return Promise.reject(failure);
      const pending = Promise.withResolvers<Answered>();
      const id = ++count;
      waiting.set(id, pending);
      worker.ref();
      worker.postMessage({ id, ...request });
      return pending.promise;
    },
    end: () => worker.terminate(),
  };
}
