import type { Database } from '../../../platform/database/database.ts';
import { findGaps, findNameless } from '../../core/log/verify-store.ts';
import type { Mismatch } from './range.ts';

/** Positions that one statement looks at. */
const STRETCH = 50_000;
/** Faults of one stretch that are named. */
const NAMED = 100;

/**
 * Verifies that the positions of the log have no gaps, and that each entry of a packet names one.
 *
 * @param upTo the last position to look at
 */
export async function verifyPositions(
  database: Database,
  upTo: number,
  onMismatch: (mismatch: Mismatch) => void,
): Promise<void> {
  for (let after = 0; after < upTo; after += STRETCH) {
    const stretch = { after, upTo: Math.min(after + STRETCH, upTo) };
    for (const { first, last } of await findGaps(database, stretch, NAMED)) {
      const which = first === last ? `position ${first} has` : `positions ${first} to ${last} have`;
      onMismatch({ subject: 'packet_log', fault: `${which} no entry` });
    }
    for (const position of await findNameless(database, stretch, NAMED)) {
      onMismatch({ subject: 'packet_log', fault: `position ${position} names no packet` });
    }
  }
}
