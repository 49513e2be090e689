import { Problem } from '../../platform/http/problems.ts';

/** Runs work while there is a free slot. */
export type Slots = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * Bounds how much is done at the same time, without a queue: who finds no slot is told to come back.
 *
 * @param max slots
 */
export function slots(max: number): Slots {
  let busy = 0;
  return async work => {
    if (busy >= max) {
      throw new Problem('unavailable', `${max} uploads are under way already; come back`, { retryAfter: 5 });
    }
    busy++;
    try {
      return await work();
    } finally {
      busy--;
    }
  };
}
