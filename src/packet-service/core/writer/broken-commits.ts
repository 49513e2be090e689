import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import { isOfSession, preparedParts } from '../../../platform/database/citus/prepared-parts.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { Server } from '../../../platform/http/server.ts';

/**
 * How long an answer waits for what a broken commit hides, in milliseconds. The coordinator finishes such commits every
 * second, after 5 more if its process for that met the worker while it was gone; a worker needs some to start again.
 */
const HELD_MS = 15_000;
const LOOK_EVERY_MS = 100;
/**
 * What Citus warns of when a worker did not answer the last command of a commit, or could not be sent it. It does not
 * translate its messages, and gives these no code of their own.
 */
const BROKEN = /^(failed to commit transaction on |connection to the remote node )/;

const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Resolves when everything that was committed before the call can be read, or after HELD_MS. */
export type UntilComplete = () => Promise<void>;

/** A single server needs no waiting. */
export const ALWAYS_COMPLETE: UntilComplete = async () => {};

/** Commits over several servers of which a worker has not yet heard. */
export interface BrokenCommits {
  /**
   * Called with each notice of a session.
   *
   * @param pid of the session on the coordinator
   */
  onNotice(message: string | undefined, pid: number): void;
  /** Has every answer to a write wait until what was written can be read. */
  holdAnswers(app: Server): void;
  /** For an answer to what somebody else has committed: this process does not know whether that commit broke. */
  untilComplete: UntilComplete;
}

/**
 * A commit over several servers that breaks on a worker has succeeded: the worker has its part on disk, prepared, and
 * the coordinator repeats the last command until it arrives. Until then the rows are hidden, and a client that goes on
 * with what was acknowledged would get 404. So answers wait; not longer than HELD_MS, because what a worker that stays
 * away has hidden is acknowledged all the same.
 */
export function brokenCommits(find: () => Database, logger: FastifyBaseLogger): BrokenCommits {
  const open = new Set<Promise<void>>();
  const look = batchLoader<'parts', ReadonlySet<string> | undefined>(
    async () => [await preparedParts(find())],
    { max: 1 },
  );

  /** Waits for the parts that are prepared at the first look. Returns whether they are complete in time. */
  async function areComplete(isMeant: (part: string) => boolean): Promise<boolean> {
    const isLate = wait(HELD_MS, true, { ref: false });
    for (let left: string[] | undefined; ; ) {
      const parts = await Promise.race([look('parts').catch(() => undefined), isLate]);
      if (parts === true) return false;
      if (parts) left = (left ?? [...parts].filter(isMeant)).filter(part => parts.has(part));
      if (left?.length === 0) return true;
      if (await Promise.race([wait(LOOK_EVERY_MS), isLate])) return false;
    }
  }

  async function finish(pid: number): Promise<void> {
    const began = performance.now();
    const isComplete = await areComplete(part => isOfSession(part, pid));
    const ms = Math.round(performance.now() - began);
    if (isComplete) logger.info({ ms }, 'a commit that broke on a worker is now complete');
    else
      logger.warn(
        { ms },
        'a commit that broke on a worker is still incomplete: its writes are kept, but hidden until the worker is back',
      );
  }

  return {
    onNotice(message, pid) {
      if (message === undefined || !BROKEN.test(message)) return;
      logger.warn(
        { detail: message },
        'a commit broke on a worker: holding responses until it is complete there',
      );
      const finishing = finish(pid).finally(() => open.delete(finishing));
      open.add(finishing);
    },
    holdAnswers(app) {
      app.addHook('onSend', (request, _reply, payload, done) => {
        if (open.size === 0 || READS.includes(request.method)) done(null, payload);
        else void Promise.all(open).then(() => done(null, payload));
      });
    },
    async untilComplete() {
      await areComplete(() => true);
    },
  };
}
