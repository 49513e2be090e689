import type { FastifyReply } from 'fastify';
import { weightedSemaphore } from '../../platform/concurrency/weighted-semaphore.ts';
import { Problem } from '../../platform/http/problems.ts';

/** Ends the work for a client that has gone, with a Problem that nobody reads. */
export type CheckClient = () => void;

/**
 * Makes an answer when its turn comes.
 *
 * @param work told how to find out later on whether the client is there
 * @throws Problem request_timeout if the client is gone by then: nothing was begun
 */
export type InTurn = <Answer>(
  reply: Pick<FastifyReply, 'raw'>,
  work: (checkClient: CheckClient) => Promise<Answer>,
) => Promise<Answer>;

/** Turns in order of arrival. A map that is moved cancels the tiles that it asked for, which then cost nothing. */
export function turns(atOnce: number): InTurn {
  const places = weightedSemaphore(atOnce);
  return async ({ raw }, work) => {
    const checkClient = () => {
      if (raw.closed) throw new Problem('request_timeout', 'the client is gone');
    };
    await places.acquire(1);
    try {
      checkClient();
      return await work(checkClient);
    } finally {
      places.release(1);
    }
  };
}
