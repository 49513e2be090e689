import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { dayDue } from './calendar.ts';
import type { Provider } from './provider.ts';
import { retrieveLabels, retrieveLatest } from './rates.ts';
import { claimRetrieval, listCurrencies, noteRetrieved } from './store.ts';

/**
 * How often the clock is checked, in milliseconds: no timer is set for midnight, because machines sleep and clocks
 * are changed.
 */
const CHECK_MS = 20_000;
/** Milliseconds after which a process retries a retrieval that failed, or whose process died. */
const RETRY_MS = 3600_000;

/** The clock; tests have their own. */
export type Clock = () => Date;

/**
 * Retrieves the day's rates from 00:01, and at start if today's are missing, even after a recent attempt. One process does
 * it for all.
 *
 * @param zone an IANA time zone, by default the machine's
 * @returns a function that stops it, and resolves when a retrieval in flight has ended
 */
export function retrieveDaily(
  pool: pg.Pool,
  provider: Provider,
  logger: FastifyBaseLogger,
  { now = () => new Date(), zone }: { now?: Clock; zone?: string } = {},
): () => Promise<void> {
  const started = now().getTime();
  let done: string | undefined;
  let running: Promise<void> = Promise.resolve();

  async function retrieveIfDue(): Promise<void> {
    const time = now();
    const day = dayDue(time, zone);
    if (day === undefined || day === done) return;
    // Attempts that were made before this process started count as failed.
    const staleBefore = new Date(Math.max(started, time.getTime() - RETRY_MS));
    if (!(await claimRetrieval(pool, day, time, staleBefore))) return;
    await retrieveLatest(pool, provider, day);
    await noteRetrieved(pool, day, now());
    done = day;
    logger.info({ day }, 'retrieved the exchange rates');
    await nameCurrencies();
  }

  /** Names are optional: a failure to retrieve them changes nothing. */
  async function nameCurrencies(): Promise<void> {
    const { items } = await listCurrencies(pool, {}, { limit: 500, offset: 0, sortBy: 'code', sort: 'ASC' });
    if (items.every(({ code, label }) => code !== label)) return;
    await retrieveLabels(pool, provider);
  }

  const attempt = () => {
    running = running.then(retrieveIfDue).catch(error => {
      logger.error({ err: error }, 'the exchange rates could not be retrieved; next attempt in an hour');
    });
  };
  attempt();
  const timer = setInterval(attempt, CHECK_MS);
  return async () => {
    clearInterval(timer);
    await running;
  };
}
