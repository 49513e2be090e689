/** The rate of one day: the value of one euro. */
export interface Rate {
  date: string;
  value: string;
}

/** A line through rates, in a box of this size. */
export interface Line {
  /** of a path of SVG */
  path: string;
  least: Rate;
  greatest: Rate;
}

/**
 * Draws rates as a line: days from left to right, the greatest value at the top.
 *
 * @returns undefined without rates
 */
export function lineOf(rates: readonly Rate[], width: number, height: number): Line | undefined {
  const [first] = rates;
  if (!first) return undefined;
  const values = rates.map(({ value }) => Number(value));
  const days = rates.map(({ date }) => Date.parse(date));
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const [from, to] = [days[0] as number, days.at(-1) as number];
  const x = (day: number) => (to === from ? width / 2 : ((day - from) / (to - from)) * width);
  const y = (value: number) =>
    greatest === least ? height / 2 : height - ((value - least) / (greatest - least)) * height;
  const points = values.map((value, index) => `${round(x(days[index] as number))},${round(y(value))}`);
  return {
    path: `M${points.join('L')}`,
    least: rates[values.indexOf(least)] ?? first,
    greatest: rates[values.indexOf(greatest)] ?? first,
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
