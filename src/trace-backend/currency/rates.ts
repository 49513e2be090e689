import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { transaction } from '../../platform/postgres/database.ts';
import { checkDate, daysBefore, localTime } from './calendar.ts';
import { convertAmount } from './convert.ts';
import type { Provider, Publication, Purpose } from './provider.ts';
import {
  findCurrency,
  findPublished,
  findRates,
  lockDate,
  notePublished,
  upsertCurrencies,
  upsertRates,
} from './store.ts';

/** Days that a weekend and the holidays around it last, at most. */
const LONGEST_HOLIDAYS = 7;

/** Days after which no rates of a date are published any more. */
const SETTLED_DAYS = 2;
/** How long a date counts as not yet published, in milliseconds. */
const NOT_YET_MS = 3600_000;

export interface Conversion {
  /** the date whose rates were used */
  date: string;
  /** a decimal text */
  result: string;
}

/** The currency service. */
export interface Currencies {
  /**
   * Converts with the latest stored rates.
   *
   * @param amount a decimal text
   * @throws Problem invalid for a currency that is unknown or disabled, not_found when there are no rates
   */
  convert(amount: string, from: string, to: string): Promise<Conversion>;
  /**
   * Converts with the rates of a date, which are fetched when they are not stored; of a weekend or holiday, with those
   * of the day before it that has some.
   *
   * @throws Problem as `convert`; too_many_requests, unavailable
   */
  convertAtDate(amount: string, from: string, to: string, date: string): Promise<Conversion>;
}

export function openCurrencies(pool: pg.Pool, provider: Provider | undefined): Currencies {
  const fetching = new Map<string, Promise<string | null>>();
  let last: Promise<unknown> = Promise.resolve();

  /** Those who ask for a date at the same time wait for one request; dates are asked for one after the other. */
  function fetchOnce(date: string): Promise<string | null> {
    let flight = fetching.get(date);
    if (!flight) {
      flight = last
        .then(() => fetchDate(pool, provider as Provider, date))
        .finally(() => fetching.delete(date));
      last = flight.catch(() => {});
      fetching.set(date, flight);
    }
    return flight;
  }

  /** The date whose rates count for a date; null when there are none. */
  async function publishedFor(date: string, codes: string[]): Promise<string | null> {
    if (await findRates(pool, codes, { from: date, to: date })) return date;
    const known = await findPublished(pool, date, new Date());
    if (known === null || known === date) return known;
    if (known !== undefined) {
      // Imported history has fewer currencies than the provider: then that date is to be asked for.
      const stored = await findRates(pool, codes, { from: known, to: known });
      return stored ? known : publishedFor(known, codes);
    }
    if (provider) return fetchOnce(date);
    // Imported history has no rows for weekends: then the day before counts, as the provider would say.
    const earlier = await findRates(pool, codes, { from: daysBefore(date, LONGEST_HOLIDAYS), to: date });
    return earlier?.date ?? null;
  }

  return {
    async convert(amount, from, to) {
      await checkCodes(pool, from, to);
      if (from === to) return { date: localTime(new Date()).day, result: amount };
      const codes = ratedCodes(from, to);
      const rates = await findRates(pool, codes, {});
      if (!rates) throw new Problem('not_found', `there are no rates of ${codes.join(' and ')} yet`);
      return { date: rates.date, result: convertAmount(amount, rateOf(rates, from), rateOf(rates, to)) };
    },
    async convertAtDate(amount, from, to, date) {
      await checkCodes(pool, from, to);
      checkDate(date, 'date', localTime(new Date()).day);
      if (from === to) return { date, result: amount };
      const codes = ratedCodes(from, to);
      const published = await publishedFor(date, codes);
      const rates = published && (await findRates(pool, codes, { from: published, to: published }));
      if (!rates) throw new Problem('not_found', `there are no rates of ${codes.join(' and ')} for ${date}`);
      return { date: rates.date, result: convertAmount(amount, rateOf(rates, from), rateOf(rates, to)) };
    },
  };
}

/** The euro is what rates are measured in: it has none. */
function ratedCodes(from: string, to: string): string[] {
  return [from, to].filter(code => code !== 'EUR');
}

function rateOf({ values }: { values: Map<string, string> }, code: string): string {
  return code === 'EUR' ? '1' : (values.get(code) as string);
}

async function checkCodes(pool: pg.Pool, from: string, to: string): Promise<void> {
  for (const [field, code] of Object.entries({ from, to })) {
    if (code === 'EUR') continue;
    const currency = await findCurrency(pool, code);
    if (currency?.enabled) continue;
    const sentence = `${field} must be a supported currency; ${code} is ${currency ? 'disabled' : 'unknown'}`;
    throw new Problem('invalid', sentence, { fields: { [field]: sentence } });
  }
}

/**
 * Asks the provider for a date, unless another process has just done so, and keeps what it says, also that it has
 * nothing.
 *
 * @returns the date whose rates it gave
 */
async function fetchDate(pool: pg.Pool, provider: Provider, date: string): Promise<string | null> {
  return transaction(pool, async database => {
    await lockDate(database, date);
    const known = await findPublished(database, date, new Date());
    if (known !== undefined) return known;
    const publication = await provider.historical(date);
    // A date that it calls later than the one asked for would be somebody else's.
    const published = publication && publication.date <= date ? publication.date : null;
    if (publication && published) await keep(database, publication);
    await notePublished(database, date, published, believedUntil(date, published));
    return published;
  });
}

/** Until when to believe that a date has no rates of its own: an hour while it may still get them, then for good. */
function believedUntil(date: string, published: string | null): Date | null {
  const now = new Date();
  const settled = published === date || date < daysBefore(now.toISOString().slice(0, 10), SETTLED_DAYS);
  return settled ? null : new Date(now.getTime() + NOT_YET_MS);
}

async function keep(database: Database, { date, rates }: Publication): Promise<void> {
  await upsertCurrencies(
    database,
    [...rates.keys()].map(code => ({ code })),
  );
  await upsertRates(
    database,
    [...rates].map(([code, value]) => ({ code, date, value })),
  );
}

/** Retrieves the latest rates, and names of currencies where some have none. */
export async function retrieveLatest(pool: pg.Pool, provider: Provider, day: string): Promise<void> {
  const purpose: Purpose = 'daily';
  const publication = await provider.latest(purpose);
  await transaction(pool, async database => {
    await keep(database, publication);
    if (publication.date <= day) {
      await notePublished(database, day, publication.date, believedUntil(day, publication.date));
    }
  });
}

/** Asks for the names of currencies; only worth it where some have none. */
export async function retrieveLabels(pool: pg.Pool, provider: Provider): Promise<void> {
  const symbols = await provider.symbols('other');
  await upsertCurrencies(
    pool,
    [...symbols].map(([code, label]) => ({ code, label })),
  );
}
