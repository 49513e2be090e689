/** Days from one to another, as in `from=2026-03-01&to=2026-03-07`; without an end it goes on until now. */
export interface TimeRange {
  from?: string | undefined;
  to?: string | undefined;
}

const DAY_MS = 86_400_000;
const isDay = (text: string) => /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
const later = (day: string, days: number) =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10);

/** The day of a moment in the zone of the browser. */
export function dayOf(moment: Date): string {
  const [year, month, day] = [moment.getFullYear(), moment.getMonth() + 1, moment.getDate()];
  return [String(year).padStart(4, '0'), ...[month, day].map(part => String(part).padStart(2, '0'))].join(
    '-',
  );
}

/** The last days, with today. */
export function lastDays(days: number, today: string): TimeRange {
  return { from: later(today, 1 - days), to: undefined };
}

/** How many days a range has; undefined for one that has no beginning or is none of days. */
export function lengthOf({ from = '', to = '' }: TimeRange, today: string): number | undefined {
  const end = to || today;
  if (!isDay(from) || !isDay(end) || from > end) return undefined;
  return Math.round((Date.parse(end) - Date.parse(from)) / DAY_MS) + 1;
}

/** The range of the same length right before (-1) or after (1) it; undefined if that is not over before today. */
export function neighbourOf(range: TimeRange, today: string, step: -1 | 1): TimeRange | undefined {
  const days = lengthOf(range, today);
  if (days === undefined || range.from === undefined) return undefined;
  const from = later(range.from, step * days);
  const to = later(from, days - 1);
  if (from > today) return undefined;
  return { from, to: to >= today ? undefined : to };
}
