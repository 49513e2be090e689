import type { RequestMaker } from '../load.ts';
import { observationBody, post } from './scouting.ts';

/** Batches of observations for POST /intake/batch. */
export default function batchRequests({ items }: { items: number }): RequestMaker {
  return n => {
    const batch = Array.from(
      { length: items },
      (_, index) => `{"intake":"scouting","body":${observationBody(n * items + index)}}`,
    );
    return post('/intake/batch', `[${batch.join(',')}]`);
  };
}
