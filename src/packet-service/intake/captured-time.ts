import { Problem } from '../../platform/http/problems.ts';

/** How far a time may be ahead of this process's clock, in milliseconds: clocks set to another time zone are not refused. */
const MAX_AHEAD_MS = 24 * 3600 * 1000;

/**
 * Refuses a time more than a day ahead. A packet never changes, so one with such a time would be first in every list
 * until then. Phones lose the date when their battery is empty: the answer's Date header lets them tell by how much.
 *
 * @param time Unix milliseconds
 * @param field the field that has it, for the error
 * @throws Problem invalid
 */
export function refuseAhead(time: number, field: string): void {
  if (time - Date.now() <= MAX_AHEAD_MS) return;
  throw new Problem('timestamp.ahead', { field });
}
