import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { ISO_4217 } from '../../base/currencies/iso-4217.ts';
import { checkDate, daysBefore, localTime } from './calendar.ts';
import { convertAmount } from './convert.ts';
import { believedUntil, dateFetcher } from './fetch.ts';
import { type Asker, isCode, type Provider, type Purpose } from './provider.ts';
import {
  addCurrencies,
  findCurrency,
  findPublished,
  findRated,
  findRates,
  hasRates,
  keepPublication,
  notePublished,
  upsertCurrencies,
} from './store.ts';

/** Days of a weekend with adjacent holidays, at most. */
const LONGEST_HOLIDAYS = 7;

export interface Conversion {
  /** the date whose rates were used */
  date: string;
  /** a decimal text */
  result: string;
}

/** The currency service. */
export interface Currencies {
  /**
   * Converts with the rates of the latest day that has both.
   *
   * @param amount a decimal text
   * @throws Problem invalid for a currency that is unknown or disabled; not_found, with the currency that has no rates
   */
  convert(amount: string, from: string, to: string): Promise<Conversion>;
  /**
   * Converts with the rates of a date, which are fetched if they are not stored; for a weekend or holiday, with those
   * of the last day before it that has some.
   *
   * @param asker the user whose share of the day's requests to the provider this may use
   * @throws Problem as `convert`; too_many_requests, unavailable
   */
  convertAtDate(amount: string, from: string, to: string, date: string, asker: Asker): Promise<Conversion>;
}

/** Adds the currencies of ISO 4217 that are not known yet: companies choose among them, with rates or without. */
export async function addKnownCurrencies(database: Database): Promise<void> {
  await addCurrencies(database, ISO_4217);
}

export function openCurrencies(pool: pg.Pool, provider: Provider | undefined): Currencies {
  const fetchDate = provider && dateFetcher(pool, provider);

  /** The date whose rates apply to a date; null if there are none. */
  async function publishedFor(date: string, codes: string[], asker: Asker): Promise<string | null> {
    if (await findRates(pool, codes, { from: date, to: date })) return date;
    const known = await findPublished(pool, date, new Date());
    if (known === null || known === date) return known;
    if (known !== undefined) {
      // Imported history has fewer currencies than the provider: then that date has to be fetched.
      const stored = await findRates(pool, codes, { from: known, to: known });
      return stored ? known : publishedFor(known, codes, asker);
    }
    if (fetchDate) return fetchDate(date, asker);
    // Imported history has no rows for weekends: then the day before counts, as with the provider.
    const earlier = await findRates(pool, codes, { from: daysBefore(date, LONGEST_HOLIDAYS), to: date });
    return earlier?.date ?? null;
  }

  return {
    async convert(amount, from, to) {
      await checkCodes(pool, from, to);
      if (from === to) return { date: localTime(new Date()).day, result: amount };
      const codes = ratedCodes(from, to);
      const rates = await findRates(pool, codes, {});
      if (!rates) throw await missing(pool, codes, {});
      return { date: rates.date, result: convertAmount(amount, rateOf(rates, from), rateOf(rates, to)) };
    },
    async convertAtDate(amount, from, to, date, asker) {
      checkDate(date, 'date', localTime(new Date()).day);
      const codes = ratedCodes(from, to);
      // A currency becomes known with its first rates, which may be those of this date.
      if (await areNew(pool, codes)) await publishedFor(date, codes, asker);
      await checkCodes(pool, from, to);
      if (from === to) return { date, result: amount };
      const published = await publishedFor(date, codes, asker);
      const rates = published && (await findRates(pool, codes, { from: published, to: published }));
      if (!rates) {
        const earliest = fetchDate ? date : daysBefore(date, LONGEST_HOLIDAYS);
        const looked = published ? { from: published, to: published } : { from: earliest, to: date };
        throw await missing(pool, codes, looked, date);
      }
      return { date: rates.date, result: convertAmount(amount, rateOf(rates, from), rateOf(rates, to)) };
    },
  };
}

/** The euro is the base currency and has no rates. */
function ratedCodes(from: string, to: string): string[] {
  return [from, to].filter(code => code !== 'EUR');
}

/**
 * Why there are no rates for a conversion: which of the currencies have none, or that no day has both.
 *
 * @param looked the dates among which they were looked for
 * @param date of the conversion, if it is one at a date
 */
async function missing(
  pool: pg.Pool,
  codes: string[],
  looked: { from?: string; to?: string },
  date?: string,
): Promise<Problem> {
  const rated = await findRated(pool, codes, looked);
  const without = codes.filter(code => !rated.includes(code)).join(' and ');
  const both = codes.join(' and ');
  if (date === undefined) {
    return without
      ? new Problem('exchange_rate.none_yet', { codes: without })
      : new Problem('exchange_rate.never_of_both', { codes: both });
  }
  return without
    ? new Problem('exchange_rate.none_on_date', { codes: without, date })
    : new Problem('exchange_rate.not_of_both_until_date', { codes: both, date });
}

function rateOf({ values }: { values: Map<string, string> }, code: string): string {
  return code === 'EUR' ? '1' : (values.get(code) as string);
}

/** Whether these can be codes of currencies, and one of them is unknown. */
async function areNew(pool: pg.Pool, codes: readonly string[]): Promise<boolean> {
  if (!codes.every(isCode)) return false;
  const known = await Promise.all(codes.map(code => findCurrency(pool, code)));
  return known.includes(undefined);
}

async function checkCodes(pool: pg.Pool, from: string, to: string): Promise<void> {
  for (const [field, code] of Object.entries({ from, to })) {
    if (code === 'EUR') continue;
    const currency = await findCurrency(pool, code);
    if (currency?.enabled) continue;
    // Before the first rates, no code is known to be wrong.
    if (!currency && isCode(code) && !(await hasRates(pool))) continue;
    throw new Problem(currency ? 'currency.disabled' : 'currency.unsupported', { field, code });
  }
}

/** Retrieves the latest rates, and names of currencies if some have none. */
export async function retrieveLatest(pool: pg.Pool, provider: Provider, day: string): Promise<void> {
  const purpose: Purpose = 'daily';
  const publication = await provider.latest(purpose);
  await transaction(pool, async database => {
    await keepPublication(database, publication);
    if (publication.date <= day) {
      await notePublished(database, day, publication.date, believedUntil(day, publication.date));
    }
  });
}

/** Fetches the names of currencies, if some have none. */
export async function retrieveLabels(pool: pg.Pool, provider: Provider): Promise<void> {
  const symbols = await provider.symbols('other');
  await upsertCurrencies(
    pool,
    [...symbols].map(([code, label]) => ({ code, label })),
  );
}
