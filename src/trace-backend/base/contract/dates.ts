import { Problem } from '../../../platform/http/problems.ts';
import { Type } from '../../../platform/type.ts';
import { nullable } from './shapes.ts';

/** A date in a body; front ends also send a time with it, which is ignored. */
export const Day = nullable(
  Type.String({
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]{1,20}(Z|[+-][0-9:]{1,6})?)?$',
    'x-reason': 'validation.date',
    maxLength: 40,
    description: 'a date; a time is ignored',
    examples: ['2026-03-01'],
  }),
);

/**
 * The day of a sent date, YYYY-MM-DD.
 *
 * @throws Problem invalid if the day does not exist
 */
export function dayOf(field: string, sent: string): string {
  const day = sent.slice(0, 10);
  const time = Date.parse(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
  if (isDay && !day.startsWith('0000')) return day;
  throw new Problem('validation.no_date', { field });
}
