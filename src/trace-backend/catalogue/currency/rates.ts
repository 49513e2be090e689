import type pg from 'pg';
import { type Database, transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { ISO_4217 } from '../../base/currencies/iso-4217.ts';
import { checkDate, daysBefore, localTime } from './calendar.ts';
import { convertAmount } from './convert.ts';
import { believedUntil, dateFetcher } from './fetch.ts';
import { isCode, type Provider, type Purpose, type RequestingUser } from './provider.ts';
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

/** Maximum days of a weekend with adjacent holidays. */
const MAX_HOLIDAYS = 7;

export interface Conversion {
  /** the date of the rates that were used */
  date: string;
  /** a decimal text */
  result: string;
}

/** The currency service. */
export interface Currencies {
  /**
   * Converts with the rates of the latest day that has both currencies.
   *
   * @param amount a decimal text
   * @throws Problem invalid for an unknown or disabled currency; not_found, with the currency that has no rates
   */
  convert(amount: string, from: string, to: string): Promise<Conversion>;
  /**
   * Converts with the rates of a date, which are fetched if they are not stored; for a weekend or holiday, with those of
   * the previous day with rates.
   *
   * @param requester the user for whom requests to the provider are counted
   * @throws Problem as `convert`; too_many_requests, unavailable
   */
  convertAtDate(
    amount: string,
    from: string,
    to: string,
    date: string,
    requester: RequestingUser,
  ): Promise<Conversion>;
}

/** Adds missing currencies of ISO 4217: companies choose among them, with or without rates. */
export async function addIsoCurrencies(database: Database): Promise<void> {
  await addCurrencies(database, ISO_4217);
}

export function openCurrencies(pool: pg.Pool, provider: Provider | undefined): Currencies {
  const fetchDate = provider && dateFetcher(pool, provider);

  /** The date of the rates that apply to a date; null if there are none. */
  async function publishedFor(
    date: string,
    codes: string[],
    requester: RequestingUser,
  ): Promise<string | null> {
    if (await findRates(pool, codes, { from: date, to: date })) return date;
    const published = await findPublished(pool, date, new Date());
    if (published === null || published === date) return published;
    if (published !== undefined) {
      // Imported history has fewer currencies than the provider; then that date has to be fetched.
      const stored = await findRates(pool, codes, { from: published, to: published });
      return stored ? published : publishedFor(published, codes, requester);
    }
    if (fetchDate) return fetchDate(date, requester);
    // Imported history has no rows for weekends; then the rates of the day before apply, as with the provider.
    const earlier = await findRates(pool, codes, { from: daysBefore(date, MAX_HOLIDAYS), to: date });
    return earlier?.date ?? null;
  }

  return {
    async convert(amount, from, to) {
      await checkCodes(pool, from, to);
      if (from === to) return { date: localTime(new Date()).day, result: amount };
      const codes = ratedCodes(from, to);
      const rates = await findRates(pool, codes, {});
      if (!rates) throw await noRatesProblem(pool, codes, {});
      return { date: rates.date, result: convertAmount(amount, rateOf(rates, from), rateOf(rates, to)) };
    },
    async convertAtDate(amount, from, to, date, requester) {
      checkDate(date, 'date', localTime(new Date()).day);
      const codes = ratedCodes(from, to);
      // A new currency is stored with its first rates, which may be those of this date.
      if (await hasUnknown(pool, codes)) await publishedFor(date, codes, requester);
      await checkCodes(pool, from, to);
      if (from === to) return { date, result: amount };
      const published = await publishedFor(date, codes, requester);
      const rates = published && (await findRates(pool, codes, { from: published, to: published }));
      if (!rates) {
        const earliest = fetchDate ? date : daysBefore(date, MAX_HOLIDAYS);
        const period = published ? { from: published, to: published } : { from: earliest, to: date };
        throw await noRatesProblem(pool, codes, period, date);
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
 * The problem of a conversion without rates: it names the currencies that have none, or says that no day has both.
 *
 * @param period the searched dates
 * @param date date of the conversion, if it has one
 */
async function noRatesProblem(
  pool: pg.Pool,
  codes: string[],
  period: { from?: string; to?: string },
  date?: string,
): Promise<Problem> {
  const rated = await findRated(pool, codes, period);
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

/** Whether all codes are well-formed and at least one is unknown. */
async function hasUnknown(pool: pg.Pool, codes: readonly string[]): Promise<boolean> {
  if (!codes.every(isCode)) return false;
  const currencies = await Promise.all(codes.map(code => findCurrency(pool, code)));
  return currencies.includes(undefined);
}

async function checkCodes(pool: pg.Pool, from: string, to: string): Promise<void> {
  for (const [field, code] of Object.entries({ from, to })) {
    if (code === 'EUR') continue;
    const currency = await findCurrency(pool, code);
    if (currency?.enabled) continue;
    // Before the first rates, any well-formed code may be valid.
    if (!currency && isCode(code) && !(await hasRates(pool))) continue;
    throw new Problem(currency ? 'currency.disabled' : 'currency.unsupported', { field, code });
  }
}

/** Retrieves and stores the latest rates. */
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

/** Retrieves and stores the names of currencies. */
export async function retrieveLabels(pool: pg.Pool, provider: Provider): Promise<void> {
  const symbols = await provider.symbols('other');
  await upsertCurrencies(
    pool,
    [...symbols].map(([code, label]) => ({ code, label })),
  );
}
