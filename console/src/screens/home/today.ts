const HOUR_MS = 3_600_000;

/** The hours of the day that a moment belongs to, in the zone of the browser: one day in the year has 23, one 25. */
export function hoursOfDay(now: Date): { from: Date; hours: number } {
  const from = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const next = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  return { from, hours: Math.round((next.getTime() - from.getTime()) / HOUR_MS) };
}

/** The address of the list with the packets of an hour: those that are counted, by the time in their ids. */
export function addressOfHour(from: string): string {
  const last = new Date(Date.parse(from) + HOUR_MS - 1).toISOString();
  return `/packets?${new URLSearchParams({ made_from: from, made_to: last })}`;
}

/** Heights of bars from 0 to 1, of the highest. */
export function heights(counts: readonly number[]): number[] {
  const highest = Math.max(1, ...counts);
  return counts.map(count => count / highest);
}
