/** The hours of the day that a moment belongs to, in the zone of the browser: one day in the year has 23, one 25. */
export function hoursOfDay(now: Date): { from: Date; hours: number } {
  const from = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  const next = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  return { from, hours: Math.round((next.getTime() - from.getTime()) / 3_600_000) };
}

/** Heights of bars from 0 to 1, of the highest. */
export function heights(counts: readonly number[]): number[] {
  const highest = Math.max(1, ...counts);
  return counts.map(count => count / highest);
}
