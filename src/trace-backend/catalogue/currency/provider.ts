import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { Problem } from '../../../platform/http/problems.ts';
import type { BreakerWatch } from '../../../platform/outbound/breaker-watch.ts';
import { type CircuitBreaker, circuitBreaker } from '../../../platform/outbound/circuit-breaker.ts';
import { outbound } from '../../../platform/outbound/outbound.ts';
import { type Settings, SettingsError } from '../../../platform/settings/settings.ts';
import { localTime, secondsToMidnight } from './calendar.ts';
import { countRequest, countUserRequest, isRetrieved } from './store.ts';

/** Maximum requests per day (interface, Limits); one of them is reserved for the retrieval at 00:01. */
export const DAILY_LIMIT = 250;
/** Maximum requests per day that a user may cause. */
const USER_LIMIT = 100;
/** Attempts per request; each is counted. */
const ATTEMPTS = 2;
const TIMEOUT_MS = 8_000;

/** The rates that the provider published on a date: the value of one euro by currency, as decimal texts. */
interface Publication {
  date: string;
  rates: Map<string, string>;
}

/** The exchange-rate provider (exchangeratesapi.io or compatible). Every request is counted before it is sent. */
export interface Provider {
  /** Names of currencies by their codes. */
  symbols(purpose: Purpose): Promise<Map<string, string>>;
  latest(purpose: Purpose): Promise<Publication>;
  /** @returns undefined if it has no rates for the date */
  historical(date: string, asker: RequestingUser): Promise<Publication | undefined>;
}

const NAME = 'the exchange-rate provider';

/** Only the daily retrieval may use the reserved request. */
export type Purpose = 'daily' | 'other';

/** The user for whom a request is sent. */
export interface RequestingUser {
  /** undefined if the request is not counted for a user */
  userId: number | undefined;
}

/** The user has used up their share of the day's requests. */
export class UserBudgetSpent extends Problem<'exchange_rate.own_requests_used_up'> {
  readonly userId: number;
  constructor(userId: number, retryAfter: number) {
    super('exchange_rate.own_requests_used_up', { max: USER_LIMIT }, { retryAfter });
    this.userId = userId;
  }
}

/**
 * @returns undefined if no provider is configured
 * @throws SettingsError for an address without a key
 */
export function openProvider(
  pool: pg.Pool,
  { FX_URL, FX_ACCESS_KEY }: Pick<Settings, 'FX_URL' | 'FX_ACCESS_KEY'>,
  logger: FastifyBaseLogger,
  breakers?: BreakerWatch,
): Provider | undefined {
  if (FX_URL === undefined) return undefined;
  if (FX_ACCESS_KEY === undefined) {
    throw new SettingsError('FX_URL is set, so FX_ACCESS_KEY must be set: the provider requires it');
  }
  const send = outbound({
    name: NAME,
    timeoutMs: TIMEOUT_MS,
    retries: 0,
    concurrency: 4,
    // Its circuit breaker would refuse requests that have been counted; `rest` is checked before.
    failures: Number.POSITIVE_INFINITY,
  });
  const rest = circuitBreaker({ failures: MAX_FAILURES, restMs: FIRST_REST_MS, longestRestMs: MAX_REST_MS });

  async function request(
    path: string,
    purpose: Purpose,
    userId?: number,
  ): Promise<Record<string, unknown> | undefined> {
    const url = addressOf(FX_URL as string, FX_ACCESS_KEY as string, path);
    if (purpose === 'other') checkRest(rest);
    const attempts = rest.isTried() ? 1 : ATTEMPTS;
    for (let attempt = 1; ; attempt++) {
      await countOrRefuse(pool, purpose, userId);
      try {
        const { body } = await send({ method: 'GET', url });
        const answer = answerIn(body, (code, reason) => logger.error({ code }, reason));
        if (rest.isTried()) breakers?.closed(NAME);
        rest.succeeded();
        return answer;
      } catch (error) {
        const wasTried = rest.isTried();
        rest.failed();
        if (!wasTried && rest.isTried()) breakers?.opened(NAME, (error as Error).message);
        if (
          attempt === attempts ||
          (error as Problem).code !== 'unavailable' ||
          error instanceof ProviderRefusal
        )
          throw error;
      }
    }
  }

  return {
    async symbols(purpose) {
      const { symbols } = (await request('symbols', purpose)) ?? {};
      const entries = Object.entries((symbols ?? {}) as Record<string, unknown>);
      return new Map(
        entries.filter(([code]) => isCode(code)).map(([code, label]) => [code, String(label).slice(0, 255)]),
      );
    },
    async latest(purpose) {
      const publication = readPublication(await request('latest', purpose));
      if (!publication) throw unusable();
      return publication;
    },
    async historical(date, { userId }) {
      const body = await request(date, 'other', userId);
      return body && (readPublication(body) ?? undefined);
    },
  };
}

/**
 * Tries the provider by retrieving the latest rates once, without counting the request.
 *
 * @param timeoutMs for the answer, in milliseconds
 * @throws ProviderRefusal if it does not accept the key; Problem unavailable for other reasons
 */
export async function tryProvider(
  { FX_URL, FX_ACCESS_KEY }: { FX_URL: string; FX_ACCESS_KEY: string },
  timeoutMs: number,
): Promise<void> {
  const send = outbound({ name: NAME, timeoutMs, retries: 0 });
  const { body } = await send({ method: 'GET', url: addressOf(FX_URL, FX_ACCESS_KEY, 'latest') });
  if (!readPublication(answerIn(body, () => {}))) throw unusable();
}

/** The address of a request; it contains the key. */
function addressOf(base: string, key: string, path: string): URL {
  const url = new URL(`${base.replace(/\/+$/, '')}/${path}`);
  url.searchParams.set('access_key', key);
  if (path !== 'symbols') url.searchParams.set('base', 'EUR');
  return url;
}

/** Consecutive failures before requests are suspended. */
const MAX_FAILURES = 10;
/** How long requests are suspended, in milliseconds: the first and the maximum duration. */
const FIRST_REST_MS = 30_000;
const MAX_REST_MS = 3600_000;

/** @throws Problem unavailable while requests are suspended, because an outage must not use up the day's requests */
function checkRest(rest: CircuitBreaker): void {
  const seconds = rest.secondsLeft();
  if (seconds === 0) return;
  throw new Problem('exchange_rate.requests_suspended', {}, { retryAfter: Math.ceil(seconds) });
}

/** @throws Problem too_many_requests if the requests of the day or of the user are used up */
async function countOrRefuse(pool: pg.Pool, purpose: Purpose, userId: number | undefined): Promise<void> {
  const now = new Date();
  const { day } = localTime(now);
  if (userId !== undefined && !(await countUserRequest(pool, day, userId, USER_LIMIT))) {
    throw new UserBudgetSpent(userId, secondsToMidnight(now));
  }
  const reserved = purpose === 'daily' || (await isRetrieved(pool, day)) ? 0 : 1;
  if (await countRequest(pool, day, DAILY_LIMIT - reserved)) return;
  const retryAfter = secondsToMidnight(now);
  throw new Problem('exchange_rate.requests_used_up', { max: DAILY_LIMIT }, { retryAfter });
}

type RefusalReason =
  `exchange_rate.provider_${'refuses_key' | 'refuses_euro' | 'requests_used_up' | 'failed'}`;

/** A permanent refusal by the provider: retries would only cost requests. */
export class ProviderRefusal extends Problem<RefusalReason> {}

/** The provider's error codes for dates without rates, and for problems of the key or plan. */
const NO_RATES = new Set(['106', '302', '404', 'no_rates_available', 'invalid_date', 'not_found']);
const REFUSALS: [RegExp, RefusalReason][] = [
  [/^(101|102|missing_access_key|invalid_access_key|inactive_user)$/, 'exchange_rate.provider_refuses_key'],
  [
    /^(105|201|base_currency_access_restricted|function_access_restricted|invalid_base_currency)$/,
    'exchange_rate.provider_refuses_euro',
  ],
  [/^(104|usage_limit_reached|rate_limit_reached)$/, 'exchange_rate.provider_requests_used_up'],
];

/**
 * The body of a successful answer; undefined if the provider has no rates for the date.
 *
 * @param report called with the provider's code and the reason of a refusal
 * @throws ProviderRefusal
 */
function answerIn(
  body: unknown,
  report: (code: string, reason: string) => void,
): Record<string, unknown> | undefined {
  const { success, error, message } = (body ?? {}) as Record<string, unknown>;
  if (error === undefined && success !== false && message === undefined)
    return body as Record<string, unknown>;
  const { code, type } = (error ?? {}) as Record<string, unknown>;
  const names = [code, type].map(name => String(name ?? ''));
  if (names.some(name => NO_RATES.has(name))) return undefined;
  const [, reason = 'exchange_rate.provider_failed'] =
    REFUSALS.find(([pattern]) => names.some(name => pattern.test(name))) ?? [];
  const refusal = new ProviderRefusal(reason, {}, { retryAfter: 3600 });
  report(names.join(' ').trim().slice(0, 80), refusal.message);
  throw refusal;
}

function readPublication(body: Record<string, unknown> | undefined): Publication | undefined {
  if (!body) return undefined;
  const { date, rates, base } = body;
  if (
    typeof date !== 'string' ||
    !/^\d{4}-\d\d-\d\d$/.test(date) ||
    rates === null ||
    typeof rates !== 'object'
  ) {
    throw unusable();
  }
  if (base !== undefined && base !== 'EUR') throw unusable();
  const read = new Map<string, string>();
  for (const [code, value] of Object.entries(rates as object)) {
    if (isCode(code) && code !== 'EUR' && typeof value === 'number' && value > 0)
      read.set(code, decimal(value));
  }
  return read.size === 0 ? undefined : { date, rates: read };
}

function unusable(): Problem {
  return new Problem('exchange_rate.provider_answer_invalid', {}, { retryAfter: 60 });
}

/** A currency's code (ISO 4217): three capital letters. */
export function isCode(text: string): boolean {
  return /^[A-Z]{3}$/.test(text);
}

/** A number as a decimal text without an exponent, with all significant digits. */
function decimal(value: number): string {
  return /e/.test(String(value)) ? value.toFixed(20) : String(value);
}
