/** The rate of one day: the value of one euro. */
export interface Rate {
  date: string;
  value: string;
}

/** A mark of an axis. */
export interface Mark {
  /** a value, or a day in milliseconds since 1970 */
  value: number;
  /** from the left or from the top, in the units of the box */
  at: number;
}

/** A line through rates in a box, with its axes. */
export interface Chart {
  /** of a path of SVG */
  path: string;
  least: Rate;
  greatest: Rate;
  /** marks of values, and how many decimals they need */
  values: Mark[];
  digits: number;
  /** marks of days, and whether they are beginnings of months */
  days: Mark[];
  areMonths: boolean;
}

/** Room for the mark of a value and of a day, in pixels. */
const VALUE_ROOM = 45;
const DAY_ROOM = 90;
const DAY_MS = 86_400_000;

/**
 * Draws rates as a line: days from left to right, greater values further up, marks at round values and at beginnings of
 * months.
 *
 * @param rates by day, ascending
 * @param width of the box, in pixels, as its height
 * @returns undefined without rates
 */
export function chartOf(rates: readonly Rate[], width: number, height: number): Chart | undefined {
  const [first] = rates;
  if (!first) return undefined;
  const values = rates.map(({ value }) => Number(value));
  const days = rates.map(({ date }) => Date.parse(date));
  const [least, greatest] = [Math.min(...values), Math.max(...values)];
  const { marks, digits } = valueMarks(least, greatest, Math.max(2, Math.floor(height / VALUE_ROOM)));
  const [bottom, top] = [marks[0] as number, marks.at(-1) as number];
  const [from, to] = [days[0] as number, days.at(-1) as number];
  const x = (day: number) => round(to === from ? width / 2 : ((day - from) / (to - from)) * width);
  const y = (value: number) =>
    round(top === bottom ? height / 2 : height - ((value - bottom) / (top - bottom)) * height);
  const points = values.map((value, index) => `${x(days[index] as number)},${y(value)}`);
  const { marks: dayMarks, areMonths } = marksOfDays(from, to, Math.max(2, Math.floor(width / DAY_ROOM)));
  return {
    path: `M${points.join('L')}`,
    least: rates[values.indexOf(least)] ?? first,
    greatest: rates[values.indexOf(greatest)] ?? first,
    values: marks.map(value => ({ value, at: y(value) })),
    digits,
    days: dayMarks.map(value => ({ value, at: x(value) })),
    areMonths,
  };
}

/** Round values around a range, about as many as there is room for. */
function valueMarks(least: number, greatest: number, room: number): { marks: number[]; digits: number } {
  if (least === greatest) return { marks: [least], digits: 4 };
  const rough = (greatest - least) / room;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5].find(times => times * size >= rough) ?? 10) * size;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const [from, to] = [Math.floor(least / step + 1e-9), Math.ceil(greatest / step - 1e-9)];
  const marks = Array.from({ length: to - from + 1 }, (_, n) => Number(((from + n) * step).toFixed(digits)));
  return { marks, digits };
}

/** Beginnings of months, or days where there are fewer than two of them, at most as many as there is room for. */
function marksOfDays(from: number, to: number, room: number): { marks: number[]; areMonths: boolean } {
  const months = monthsBetween(from, to);
  if (months.length >= 2) {
    const step = [1, 2, 3, 6, 12, 24, 60, 120].find(every => months.length / every <= room) ?? 120;
    const kept = months.filter(day => monthOf(day) % step === 0);
    return { marks: kept.length > 0 ? kept : months.slice(0, 1), areMonths: true };
  }
  const step = Math.max(1, Math.ceil((to - from) / DAY_MS / (room - 1)));
  const count = Math.floor((to - from) / DAY_MS / step) + 1;
  return { marks: Array.from({ length: count }, (_, n) => from + n * step * DAY_MS), areMonths: false };
}

/** The months of the calendar, counted. */
function monthOf(day: number): number {
  const date = new Date(day);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function monthsBetween(from: number, to: number): number[] {
  const first = monthOf(from - 1) + 1;
  const count = Math.max(0, monthOf(to) - first + 1);
  return Array.from({ length: count }, (_, n) => Date.UTC(Math.floor((first + n) / 12), (first + n) % 12));
}

/** Rows of the rates in figures, about. */
const FIGURES = 13;

/** The rates at beginnings of months, and the newest one: what the line says, in figures. Where there is none, the last before it. */
export function monthlyRates(rates: readonly Rate[]): Rate[] {
  const [first, last] = [rates[0], rates.at(-1)];
  if (!first || !last) return [];
  const { marks } = marksOfDays(Date.parse(first.date), Date.parse(last.date), FIGURES);
  const found = marks.flatMap(day => rates.findLast(({ date }) => Date.parse(date) <= day) ?? []);
  return [...new Set([...found, last])];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
