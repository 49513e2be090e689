/** A moment: as a client reads it, and as PostgreSQL compares it. */
export interface Timestamp {
  /** ISO 8601 with seconds and UTC offset, otherwise as given. */
  text: string;
  /** The moment in UTC with six decimals of a second; further decimals are cut off. */
  utc: string;
}

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:([Zz])|([+-])(\d{2})(?::?(\d{2}))?)?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
/** A year that PostgreSQL and ISO 8601 both write with four digits. */
const YEAR = /^(?!0000)\d{4}-/;

/**
 * Reads an ISO 8601 date-time. Seconds and offset may be missing: they are then :00 and UTC. Years run from
 * 0001 to 9999, offsets to 14 hours (the largest in use); leap seconds are refused, as PostgreSQL moves them.
 *
 * @returns undefined when the text is no such moment, impossible dates included
 */
export function parseTimestamp(input: string): Timestamp | undefined {
  const parts = DATE_TIME.exec(input);
  if (!parts) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '00', fraction = ''] = parts;
  const [, , , , , , , , , sign, offsetHour, offsetMinute = '00'] = parts;
  if (Number(day) === 0 || Number(day) > daysIn(Number(year), Number(month))) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const minutes = sign ? Number(offsetHour) * 60 + Number(offsetMinute) : 0;
  if (Number(offsetMinute) > 59 || minutes > 14 * 60) return undefined;

  const seconds = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const utcSeconds = minutes === 0 ? seconds : moved(seconds, sign === '-' ? minutes : -minutes);
  if (!YEAR.test(utcSeconds)) return undefined;

  const offset = sign ? `${sign}${offsetHour}:${offsetMinute}` : 'Z';
  return {
    text: `${seconds}${fraction && `.${fraction}`}${offset}`,
    utc: `${utcSeconds}.${fraction.padEnd(6, '0').slice(0, 6)}Z`,
  };
}

/** Whether a date-time, which `parseTimestamp` reads, says its UTC offset. */
export function hasOffset(input: string): boolean {
  const parts = DATE_TIME.exec(input);
  return parts?.[8] !== undefined || parts?.[9] !== undefined;
}

/** Days of a month, 0 for a month that there is not. */
function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  if (month < 1 || month > 12) return 0;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function moved(seconds: string, minutes: number): string {
  return new Date(Date.parse(`${seconds}Z`) + minutes * 60_000).toISOString().slice(0, 19);
}

/**
 * Reads one end of a time range from a query: a date-time as above, or a date alone, which means its first
 * moment as the start of a range and its last as the end. A plus sign that came unescaped in a URL arrives as
 * a space; before an offset it is read as the plus it was.
 *
 * @returns the moment in UTC, for PostgreSQL; undefined when the text is neither
 */
export function parseRangeEnd(input: string, end: 'from' | 'to'): string | undefined {
  if (DATE.test(input)) {
    return parseTimestamp(`${input}T${end === 'from' ? '00:00:00' : '23:59:59.999999'}Z`)?.utc;
  }
  return parseTimestamp(input.replace(/(:\d{2}(?:[.,]\d+)?) (\d{2}(?::?\d{2})?)$/, '$1+$2'))?.utc;
}
