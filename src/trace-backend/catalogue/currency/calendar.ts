import { Problem } from '../../../platform/http/problems.ts';

/** A local day and minute of the day. */
interface LocalTime {
  /** YYYY-MM-DD */
  day: string;
  minute: number;
}

/** Cached, because creating a format takes longer than a hundred uses of it. */
const formats = new Map<string | undefined, Intl.DateTimeFormat>();

function formatOf(zone: string | undefined): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    const twoDigits = '2-digit';
    const parts = {
      year: 'numeric',
      month: twoDigits,
      day: twoDigits,
      hour: twoDigits,
      minute: twoDigits,
      hourCycle: 'h23',
    } as const;
    format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, calendar: 'iso8601', ...parts });
    formats.set(zone, format);
  }
  return format;
}

/**
 * The local time.
 *
 * @param zone an IANA time zone, by default the machine's
 */
export function localTime(now: Date, zone?: string): LocalTime {
  const parts = formatOf(zone).formatToParts(now);
  const partOf = (type: string) => parts.find(part => part.type === type)?.value as string;
  const minute = Number(partOf('hour')) * 60 + Number(partOf('minute'));
  return { day: `${partOf('year')}-${partOf('month')}-${partOf('day')}`, minute };
}

/** Minute of the day from which the day's rates are retrieved: 00:01. */
const RETRIEVAL_MINUTE = 1;

/**
 * The day for which rates are due, from 00:01 local time. On days that begin at 01:00, they are due from then; if
 * midnight comes twice, the day is the same both times.
 */
export function dayDue(now: Date, zone?: string): string | undefined {
  const { day, minute } = localTime(now, zone);
  return minute >= RETRIEVAL_MINUTE ? day : undefined;
}

/** Approximate seconds until the end of the day, when daily counts restart. */
export function secondsToMidnight(now: Date, zone?: string): number {
  const { minute } = localTime(now, zone);
  return (24 * 60 - minute) * 60 - now.getUTCSeconds();
}

/** The first day of the euro's reference rates. */
export const FIRST_DATE = '1999-01-04';

/**
 * A date of the calendar, not in the future and not before the euro.
 *
 * @throws Problem invalid
 */
export function checkDate(text: string, field: string, today: string): string {
  const date = new Date(`${text}T00:00:00Z`);
  const exists = /^\d{4}-\d\d-\d\d$/.test(text) && date.toJSON()?.startsWith(text);
  if (exists && text >= FIRST_DATE && text <= today) return text;
  throw new Problem('validation.date_out_of_range', { field, min: FIRST_DATE, max: today });
}

/** The date a number of days before another. */
export function daysBefore(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) - days * 86_400_000).toISOString().slice(0, 10);
}
