import sql, { join, raw } from 'sql-template-tag';
import { type Database, execute } from '../../../platform/database/database.ts';
import { rowsByKey, sharedRead } from '../../../platform/database/shared-read.ts';
import type { Page } from '../../base/contract/schemas.ts';

export interface CurrencyType {
  id: number;
  code: string;
  label: string;
  enabled: boolean;
}

/** The value of one euro; dates as YYYY-MM-DD, values as decimal texts. */
export interface Rate {
  code: string;
  date: string;
  value: string;
}

const CURRENCY = sql`id, code, label, enabled`;

/** A currency of a list. */
interface ListedCurrency extends CurrencyType {
  /** the latest date with a rate, as YYYY-MM-DD; absent if there is none */
  ratesUntil?: string;
}

const currencies = sharedRead(async (database, codes: readonly string[]) => {
  const { text, values } = sql`SELECT ${CURRENCY} FROM currency_types WHERE code = ANY (${codes}::text[])`;
  const { rows } = await database.query<CurrencyType>({ name: 'find-currencies', text, values });
  return rowsByKey(codes, rows, ({ code }) => code);
});

export const findCurrency = (database: Database, code: string): Promise<CurrencyType | undefined> =>
  currencies.one(database, code);

export async function findCurrencyById(database: Database, id: number): Promise<CurrencyType | undefined> {
  const { rows } = await database.query<CurrencyType>(
    sql`SELECT ${CURRENCY} FROM currency_types WHERE id = ${id}`,
  );
  return rows[0];
}

/** The fields by which currencies can be sorted. */
export const SORTABLE = ['code', 'label', 'id'] as const;

export async function listCurrencies(
  database: Database,
  { enabled, query }: { enabled?: boolean | undefined; query?: string | undefined },
  { limit, offset, sortBy, sort }: Page<(typeof SORTABLE)[number]>,
): Promise<{ items: ListedCurrency[]; count: number }> {
  const where = join(
    [
      sql`true`,
      enabled === undefined ? undefined : sql`enabled = ${enabled}`,
      query === undefined ? undefined : sql`strpos(lower(code || ' ' || label), lower(${query})) > 0`,
    ].filter(condition => condition !== undefined),
    ' AND ',
  );
  const direction = sort === 'ASC' ? sql`ASC` : sql`DESC`;
  const [page, all] = await Promise.all([
    database.query<CurrencyType & { ratesUntil: string | null }>(sql`
      SELECT ${CURRENCY}, (
        SELECT max(date)::text FROM currency_rates WHERE currency_rates.code = currency_types.code) AS "ratesUntil"
      FROM currency_types WHERE ${where}
      ORDER BY ${raw(sortBy)} ${direction}, code ${direction} LIMIT ${limit} OFFSET ${offset}`),
    database.query<{ count: number }>(sql`SELECT count(*)::int AS count FROM currency_types WHERE ${where}`),
  ]);
  const items = page.rows.map(({ ratesUntil, ...type }) => ({ ...type, ...(ratesUntil && { ratesUntil }) }));
  return { items, count: all.rows[0]?.count ?? 0 };
}

/** Adds missing currencies; existing ones get the label only if their label is the code. */
export async function addCurrencies(
  database: Database,
  currencies: readonly (readonly [code: string, label: string])[],
): Promise<void> {
  const codes = currencies.map(([code]) => code);
  const labels = currencies.map(([, label]) => label);
  // Without the condition, each start would use up an id for every currency.
  await execute(
    database,
    sql`
    INSERT INTO currency_types AS stored (code, label)
    SELECT code, label FROM unnest(${codes}::text[], ${labels}::text[]) AS added (code, label)
    WHERE NOT EXISTS (
      SELECT FROM currency_types AS named WHERE named.code = added.code AND named.label <> named.code)
    ORDER BY code
    ON CONFLICT (code) DO UPDATE SET label = excluded.label WHERE stored.label = stored.code`,
  );
}

/** Adds currencies; existing ones get the label, if there is one, and stay enabled or disabled. */
export async function upsertCurrencies(
  database: Database,
  currencies: readonly { code: string; label?: string }[],
): Promise<void> {
  const codes = currencies.map(({ code }) => code);
  const labels = currencies.map(({ label }) => label ?? null);
  await execute(
    database,
    sql`
    INSERT INTO currency_types AS stored (code, label)
    SELECT code, coalesce(label, code) FROM unnest(${codes}::text[], ${labels}::text[]) AS added (code, label)
    ORDER BY code
    ON CONFLICT (code) DO UPDATE SET label = CASE
      WHEN excluded.label = excluded.code THEN stored.label ELSE excluded.label END`,
  );
}

/** @returns undefined if it was already in that state, or does not exist */
export async function setEnabled(
  database: Database,
  code: string,
  enabled: boolean,
): Promise<CurrencyType | undefined> {
  const { rows } = await database.query<CurrencyType>(sql`
    UPDATE currency_types SET enabled = ${enabled} WHERE code = ${code} AND enabled <> ${enabled}
    RETURNING ${CURRENCY}`);
  return rows[0];
}

/** Stores rates, replacing existing ones. */
export async function upsertRates(database: Database, rates: readonly Rate[]): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO currency_rates (code, date, value)
    SELECT DISTINCT ON (code, date) code, date, value FROM unnest(
      ${rates.map(({ code }) => code)}::text[], ${rates.map(({ date }) => date)}::date[],
      ${rates.map(({ value }) => value)}::numeric[]) AS added (code, date, value)
    ORDER BY code, date
    ON CONFLICT (code, date) DO UPDATE SET value = excluded.value`,
  );
}

/** Stores a publication of the provider, with its new currencies. */
export async function keepPublication(
  database: Database,
  { date, rates }: { date: string; rates: ReadonlyMap<string, string> },
): Promise<void> {
  const codes = [...rates.keys()];
  await upsertCurrencies(
    database,
    codes.map(code => ({ code })),
  );
  await upsertRates(
    database,
    codes.map(code => ({ code, date, value: rates.get(code) as string })),
  );
}

/**
 * The latest date in a range with rates of all these currencies, and the rates by code. Reads from the newest
 * rate of the first currency, so that ten years of rates cost no more than a week.
 */
export async function findRates(
  database: Database,
  codes: readonly string[],
  { from = '-infinity', to = 'infinity' }: { from?: string; to?: string },
): Promise<{ date: string; values: Map<string, string> } | undefined> {
  const { rows } = await database.query<{ date: string; code: string; value: string }>({
    name: 'find-rates',
    text: `SELECT date::text, code, value::text FROM currency_rates
      WHERE code = ANY ($1) AND date = (
        SELECT date FROM currency_rates AS newest WHERE code = ($1::text[])[1] AND date BETWEEN $2 AND $3 AND $4 = (
          SELECT count(*) FROM currency_rates AS same WHERE same.code = ANY ($1) AND same.date = newest.date)
        ORDER BY date DESC LIMIT 1)`,
    values: [codes, from, to, codes.length],
  });
  const [first] = rows;
  return first && { date: first.date, values: new Map(rows.map(({ code, value }) => [code, value])) };
}

/** Whether rates of any currency are stored. */
export async function hasRates(database: Database): Promise<boolean> {
  const { rowCount } = await database.query(sql`SELECT FROM currency_rates LIMIT 1`);
  return rowCount === 1;
}

/** Which of the currencies have a rate in a range of dates. */
export async function findRated(
  database: Database,
  codes: readonly string[],
  { from = '-infinity', to = 'infinity' }: { from?: string; to?: string },
): Promise<string[]> {
  const { rows } = await database.query<{ code: string }>(sql`
    SELECT code FROM unnest(${codes}::text[]) AS wanted (code) WHERE EXISTS (
      SELECT FROM currency_rates AS rates WHERE rates.code = wanted.code AND date BETWEEN ${from} AND ${to})`);
  return rows.map(({ code }) => code);
}

/** A rate that is far from the previous one. */
export interface Jump extends Rate {
  before: { date: string; value: string };
}

/**
 * Pairs of neighbouring rates of these currencies, at least one of them in a range of dates, of which one is more
 * than `factor` times the other.
 */
export async function findJumps(
  database: Database,
  codes: readonly string[],
  { from, to }: { from: string; to: string },
  factor: number,
  limit: number,
): Promise<Jump[]> {
  const { rows } = await database.query<Jump>(sql`
    SELECT code, date::text, value::text,
      json_build_object('date', date_before, 'value', value_before::text) AS before
    FROM (
      SELECT code, date, value, lag(date) OVER earlier AS date_before, lag(value) OVER earlier AS value_before
      FROM currency_rates WHERE code = ANY (${codes})
      WINDOW earlier AS (PARTITION BY code ORDER BY date)) AS pairs
    WHERE date >= ${from}::date AND date_before <= ${to}::date
      AND (value > ${factor}::int * value_before OR value_before > ${factor}::int * value)
    ORDER BY pairs.date DESC, code LIMIT ${limit}`);
  return rows;
}

export async function listRates(
  database: Database,
  code: string,
  { from, to }: { from: string; to: string },
): Promise<{ date: string; value: string }[]> {
  const { rows } = await database.query<{ date: string; value: string }>(sql`
    SELECT date::text, value::text FROM currency_rates
    WHERE code = ${code} AND date BETWEEN ${from}::date AND ${to}::date ORDER BY date`);
  return rows;
}

/** The date of the rates that apply to a date; undefined if it has to be fetched, null if there are none. */
export async function findPublished(
  database: Database,
  date: string,
  now: Date,
): Promise<string | null | undefined> {
  const { rows } = await database.query<{ published: string | null }>(sql`
    SELECT published::text FROM currency_dates
    WHERE date = ${date}::date AND (believed_until IS NULL OR believed_until > ${now})`);
  return rows[0]?.published;
}

/**
 * @param believedUntil when to fetch it again; null for never
 */
export async function notePublished(
  database: Database,
  date: string,
  published: string | null,
  believedUntil: Date | null,
): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO currency_dates (date, published, believed_until) VALUES (${date}, ${published}, ${believedUntil})
    ON CONFLICT (date) DO UPDATE SET published = excluded.published, believed_until = excluded.believed_until`,
  );
}

/** A date without rates, and the date of the rates that apply to it. */
export interface Gap {
  date: string;
  published: string;
}

/** Stores gaps, except for dates that already have an entry. */
export async function noteGaps(database: Database, gaps: readonly Gap[]): Promise<void> {
  await execute(
    database,
    sql`
    INSERT INTO currency_dates (date, published)
    SELECT date, published
    FROM unnest(${gaps.map(({ date }) => date)}::date[], ${gaps.map(({ published }) => published)}::date[])
      AS gap (date, published)
    ORDER BY gap.date ON CONFLICT (date) DO NOTHING`,
  );
}

/** Claims the fetch of a date for some seconds; returns false while another process has it. */
export async function claimFetch(
  database: Database,
  date: string,
  claimant: string,
  seconds: number,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO currency_fetches AS claims (date, claimant, expires_at)
    VALUES (${date}::date, ${claimant}, now() + make_interval(secs => ${seconds}))
    ON CONFLICT (date) DO UPDATE SET claimant = excluded.claimant, expires_at = excluded.expires_at
    WHERE claims.expires_at <= now()`);
  return rowCount === 1;
}

/** Ends a claim, unless another process has claimed the date since. */
export async function deleteFetch(database: Database, date: string, claimant: string): Promise<void> {
  await execute(
    database,
    sql`DELETE FROM currency_fetches WHERE date = ${date}::date AND claimant = ${claimant}`,
  );
}

/** Counts a request of a day, if there are fewer than `limit`; otherwise returns false. */
export async function countRequest(database: Database, day: string, limit: number): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO provider_requests AS requests (day, used) SELECT ${day}::date, 1 WHERE ${limit}::int > 0
    ON CONFLICT (day) DO UPDATE SET used = requests.used + 1 WHERE requests.used < ${limit}`);
  return rowCount === 1;
}

/** Like `countRequest`, for the requests of one user. */
export async function countUserRequest(
  database: Database,
  day: string,
  userId: number,
  limit: number,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO provider_requests_by_user AS requests (day, user_id, used) VALUES (${day}::date, ${userId}, 1)
    ON CONFLICT (day, user_id) DO UPDATE SET used = requests.used + 1 WHERE requests.used < ${limit}`);
  return rowCount === 1;
}

export async function findUsed(database: Database, day: string): Promise<number> {
  const { rows } = await database.query<{ used: number }>(sql`
    SELECT used FROM provider_requests WHERE day = ${day}::date`);
  return rows[0]?.used ?? 0;
}

/** Claims the retrieval of a day: returns false if it is done, or another process claimed it after `staleBefore`. */
export async function claimRetrieval(
  database: Database,
  day: string,
  now: Date,
  staleBefore: Date,
): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    INSERT INTO daily_retrievals AS retrievals (day, claimed_at) VALUES (${day}, ${now})
    ON CONFLICT (day) DO UPDATE SET claimed_at = excluded.claimed_at
    WHERE retrievals.done_at IS NULL AND retrievals.claimed_at < ${staleBefore}`);
  return rowCount === 1;
}

export async function noteRetrieved(database: Database, day: string, now: Date): Promise<void> {
  await execute(database, sql`UPDATE daily_retrievals SET done_at = ${now} WHERE day = ${day}::date`);
}

export async function isRetrieved(database: Database, day: string): Promise<boolean> {
  const { rowCount } = await database.query(sql`
    SELECT FROM daily_retrievals WHERE day = ${day}::date AND done_at IS NOT NULL`);
  return rowCount === 1;
}
