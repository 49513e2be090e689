import { Problem } from '../../../platform/http/problems.ts';
import { parseRangeEnd } from '../../../platform/time.ts';

/**
 * One end of a time range in a query.
 *
 * @param text date-time or date; absent or empty: open
 * @param end of the range
 * @param name of the field, for the error
 * @returns UTC, as PostgreSQL reads it
 * @throws Problem invalid
 */
export function rangeEnd(
  text: string | undefined,
  end: 'from' | 'to',
  name: string = end,
): string | undefined {
  if (!text) return undefined;
  const moment = parseRangeEnd(text, end);
  if (moment === undefined) throw new Problem('validation.no_date_time_or_date', { field: name });
  return moment;
}
