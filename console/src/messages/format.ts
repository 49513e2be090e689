import { locales } from './messages.svelte.ts';

// Making a format takes longer than formatting a column of a table with it.
const dates = new Map<string, Intl.DateTimeFormat>();
const numbers = new Map<string, Intl.NumberFormat>();

/** The format of a language and options, which is made once. */
function kept<Format, Options>(
  formats: Map<string, Format>,
  Maker: new (locales: string[], options: Options) => Format,
  options: Options,
): Format {
  const key = JSON.stringify([locales(), options]);
  const cached = formats.get(key);
  if (cached) return cached;
  const format = new Maker(locales(), options);
  formats.set(key, format);
  return format;
}

/** A moment as date and time of the browser's zone. */
export function formatTime(moment: string | Date): string {
  return format(moment, { dateStyle: 'medium', timeStyle: 'short' });
}

/** A moment as a date of the browser's zone; a day such as 2026-03-01 is the same day in every zone. */
export function formatDate(moment: string | Date): string {
  return format(moment, { dateStyle: 'medium' });
}

/** The time of day in the browser's zone, to the second. @param moment in milliseconds since 1970 */
export function formatClock(moment: number): string {
  return format(new Date(moment), { timeStyle: 'medium' });
}

/** A month with its year, of a day in UTC. */
export function formatMonth(day: Date): string {
  return format(day, { month: 'short', year: 'numeric', timeZone: 'UTC' });
}

/** A day without its year, in UTC. */
export function formatDay(day: Date): string {
  return format(day, { month: 'short', day: 'numeric', timeZone: 'UTC' });
}

function format(moment: string | Date, options: Intl.DateTimeFormatOptions): string {
  const date = new Date(moment);
  // What clients have sent may be no date.
  if (Number.isNaN(date.getTime())) return String(moment);
  const isDay = typeof moment === 'string' && /^\d{4}-\d\d-\d\d$/.test(moment);
  const chosen = isDay ? { ...options, timeZone: 'UTC' } : options;
  return kept(dates, Intl.DateTimeFormat, chosen).format(date);
}

export function formatNumber(value: number, options: Intl.NumberFormatOptions = {}): string {
  return kept(numbers, Intl.NumberFormat, options).format(value);
}

export function formatMoney(value: number, currency: string): string {
  return formatNumber(value, { style: 'currency', currency });
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** A size in bytes, in the unit that fits. */
export function formatBytes(bytes: number): string {
  const step = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(bytes) / 3));
  const unit = UNITS[step] as string;
  const options = {
    style: 'unit',
    unit,
    unitDisplay: 'short',
    maximumFractionDigits: step === 0 ? 0 : 1,
  } as const;
  return formatNumber(bytes / 1000 ** step, options);
}

const SPANS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** A span before now, such as "3 hours ago". */
export function formatAgo(seconds: number): string {
  const [unit, size] = SPANS.find(([, length]) => seconds >= length) ?? (['second', 1] as const);
  return new Intl.RelativeTimeFormat(locales(), { numeric: 'auto' }).format(
    -Math.floor(seconds / size),
    unit,
  );
}

const collators = new Map<string, Intl.Collator>();

/** Options in the order of their labels, in the language of the reader. */
export function byLabel<Option extends { label: string }>(options: readonly Option[]): Option[] {
  const { compare } = kept(collators, Intl.Collator, {});
  return options.toSorted((a, b) => compare(a.label, b.label));
}

const names = new Map<string, Intl.DisplayNames>();

/** The name of a country, in the language of the reader. @param other if its code has no name there */
export function countryName(code: string, b = code): string {
  return nameOf('region', code) ?? b;
}

/** The name of a currency, in the language of the reader. @param other if its code has no name there */
export function currencyName(code: string, b = code): string {
  return nameOf('currency', code) ?? b;
}

/** The name of a language, in the language of the reader. @param tag of the language; returned if it has no name there */
export function languageName(tag: string): string {
  return nameOf('language', tag) ?? tag;
}

function nameOf(type: 'region' | 'currency' | 'language', code: string): string | undefined {
  const isCode = { region: /^[A-Z]{2}$/, currency: /^[A-Z]{3}$/, language: /^[a-z]{2,3}$/i }[type];
  const options = { type, fallback: 'none' } as const;
  return isCode.test(code) ? kept(names, Intl.DisplayNames, options).of(code) : undefined;
}
