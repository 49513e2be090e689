import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyBaseLogger } from 'fastify';
import type { Server } from '../../platform/http/server.ts';
import { isFinished } from '../../platform/postgres/citus/prepared-parts.ts';
import type { Database } from '../../platform/postgres/database.ts';

/**
 * How long an answer waits for what a broken commit hides, in milliseconds. The coordinator finishes such commits every
 * second; a worker that ended needs a few to start again.
 */
const HELD_MS = 8000;
const LOOK_EVERY_MS = 100;
/**
 * What Citus warns of when a worker did not answer the last command of a commit, or could not be sent it. It does not
 * translate its messages, and gives these no code of their own.
 */
const BROKEN = /^(failed to commit transaction on |connection to the remote node )/;

const READS = ['GET', 'HEAD', 'OPTIONS'];

/** Commits over several servers of which a worker has not yet heard. */
export interface BrokenCommits {
  /**
   * Told each notice of a session.
   *
   * @param pid of the session on the coordinator
   */
  onNotice(message: string | undefined, pid: number): void;
  /** Has every answer to a write wait until what was written can be read. */
  holdAnswers(app: Server): void;
}

/**
 * A commit over several servers that breaks on a worker has succeeded: the worker has its part on disk, prepared, and
 * the coordinator repeats the last command until it arrives. Until then the rows are hidden, and a client that goes on
 * with what was acknowledged would get 404. So answers wait; not longer than HELD_MS, because what a worker that stays
 * away has hidden is acknowledged all the same.
 */
export function brokenCommits(find: () => Database, logger: FastifyBaseLogger): BrokenCommits {
  const open = new Set<Promise<void>>();

  async function finish(pid: number): Promise<void> {
    const begun = performance.now();
    const waited = () => Math.round(performance.now() - begun);
    while (waited() < HELD_MS) {
      if (await isFinished(find(), pid).catch(() => false)) {
        logger.info({ ms: waited() }, 'the commit that broke on a worker is complete');
        return;
      }
      await wait(LOOK_EVERY_MS);
    }
    logger.warn(
      { ms: waited() },
      'a commit that broke on a worker is not complete yet: what it wrote is kept, and hidden until the worker is back',
    );
  }

  return {
    onNotice(message, pid) {
      if (message === undefined || !BROKEN.test(message)) return;
      logger.warn({ detail: message }, 'a commit broke on a worker: answers wait until it is complete there');
      const finishing = finish(pid).finally(() => open.delete(finishing));
      open.add(finishing);
    },
    holdAnswers(app) {
      app.addHook('onSend', (request, _reply, payload, done) => {
        if (open.size === 0 || READS.includes(request.method)) done(null, payload);
        else void Promise.all(open).then(() => done(null, payload));
      });
    },
  };
}
