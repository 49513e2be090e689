/** The days of a month, in a grid of whole weeks that begin on Monday. */
export function weeksOf(month: string): string[][] {
  const first = dayOf(`${month}-01`);
  const start = -((first.getUTCDay() + 6) % 7);
  const count = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const weeks = Math.ceil((count - start) / 7);
  return Array.from({ length: weeks }, (_, week) =>
    Array.from({ length: 7 }, (_, day) => moved(`${month}-01`, { days: start + week * 7 + day })),
  );
}

/** A day such as 2026-03-01 as a moment, in UTC. */
export function dayOf(day: string): Date {
  return new Date(`${day}T00:00:00Z`);
}

/** A day some days or months away; the end of a month stays one. */
export function moved(day: string, by: { days?: number; months?: number }): string {
  const date = dayOf(day);
  if (by.months) {
    const wanted = date.getUTCDate();
    date.setUTCDate(1);
    date.setUTCMonth(date.getUTCMonth() + by.months);
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    date.setUTCDate(Math.min(wanted, last));
  }
  date.setUTCDate(date.getUTCDate() + (by.days ?? 0));
  return date.toISOString().slice(0, 10);
}

/** Today in the browser's zone. */
export function today(now = new Date()): string {
  return dayFrom(now.getFullYear(), now.getMonth() + 1, now.getDate()) as string;
}

/** Whether a text is a day as services write it; addresses and older records may have other texts. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && readIso(text) !== undefined;
}

const WRITTEN = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;

/** A day as the language writes it, with the name of its month; a text that is no day as it is. */
export function writtenDay(day: string, locales: string[]): string {
  return isDay(day) ? new Intl.DateTimeFormat(locales, WRITTEN).format(dayOf(day)) : day;
}

/**
 * The day that somebody has typed: as services write it; as numbers in the order of the language, without the year for
 * this year; with the name of the month; or "yesterday" in the language.
 */
export function readDay(typed: string, locales: string[], now = today()): string | undefined {
  const text = typed.trim().toLocaleLowerCase();
  const iso = readIso(text);
  if (iso) return iso;
  const relative = new Intl.RelativeTimeFormat(locales, { numeric: 'auto' });
  for (const days of [0, -1, 1])
    if (text !== '' && text === relative.format(days, 'day').toLocaleLowerCase()) return moved(now, { days });
  const month = monthIn(text, locales);
  const numbers = text.match(/\d+/g) ?? [];
  // Some languages write numbers in another order than a day with the name of its month.
  const order =
    month === undefined ? orderOf(locales) : orderOf(locales, WRITTEN).filter(part => part !== 'month');
  if (numbers.length < order.length - 1 || numbers.length > order.length) return undefined;
  const given = numbers.length === order.length ? order : order.filter(part => part !== 'year');
  const value = (part: Part) => numbers[given.indexOf(part)];
  const year = value('year') ?? now.slice(0, 4);
  // One digit or three are a year that is still being typed.
  if (year.length !== 2 && year.length !== 4) return undefined;
  return dayFrom(Number(year.padStart(4, '20')), month ?? Number(value('month')), Number(value('day')));
}

function readIso(text: string): string | undefined {
  const [, year, month, day] = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(text) ?? [];
  return year === undefined ? undefined : dayFrom(Number(year), Number(month), Number(day));
}

type Part = 'day' | 'month' | 'year';

/** The order in which a language writes a date, by default as numbers. */
function orderOf(locales: string[], options: Intl.DateTimeFormatOptions = {}): Part[] {
  return new Intl.DateTimeFormat(locales, options)
    .formatToParts()
    .map(({ type }) => type)
    .filter((type): type is Part => type === 'day' || type === 'month' || type === 'year');
}

/** The number of the month that a text names, in full or cut to three letters or more. */
function monthIn(text: string, locales: string[]): number | undefined {
  const word = /\p{L}{3,}/u.exec(text)?.[0];
  if (word === undefined) return undefined;
  const format = new Intl.DateTimeFormat(locales, { month: 'long', timeZone: 'UTC' });
  const names = Array.from({ length: 12 }, (_, n) => format.format(Date.UTC(2026, n, 1)).toLocaleLowerCase());
  const found = names.filter(name => name.startsWith(word));
  return found.length === 1 ? names.indexOf(found[0] as string) + 1 : undefined;
}

function dayFrom(year: number, month: number, day: number): string | undefined {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isReal =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? date.toISOString().slice(0, 10) : undefined;
}
