const HOUR_MS = 3_600_000;

/** The service counts at most so many hours at once. */
const COUNTED_HOURS = 48;

/**
 * The hours of the day before a moment and of its own day, in the zone of the browser: one day in the year has 23, one 25.
 *
 * @returns `before` is how many of the hours are of the day before
 */
export function hoursOfTwoDays(now: Date): { from: Date; before: number; hours: number } {
  const [from, middle, end] = [-1, 0, 1].map(
    days => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days),
  ) as [Date, Date, Date];
  const between = (a: Date, b: Date) => Math.round((b.getTime() - a.getTime()) / HOUR_MS);
  return { from, before: between(from, middle), hours: Math.min(between(from, end), COUNTED_HOURS) };
}

/** The address of the list with the packets of an hour: those that are counted, by the time in their ids. */
export function addressOfHour(from: string): string {
  const last = new Date(Date.parse(from) + HOUR_MS - 1).toISOString();
  return `/packets?${new URLSearchParams({ made_from: from, made_to: last })}`;
}
