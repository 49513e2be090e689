import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { daysBefore } from './calendar.ts';
import { type Asker, type Provider, UserBudgetSpent } from './provider.ts';
import { claimFetch, deleteFetch, findPublished, keepPublication, notePublished } from './store.ts';

/** Days after which no rates of a date are published anymore. */
const SETTLED_DAYS = 2;
/** How long a date counts as not yet published, in milliseconds. */
const NOT_YET_MS = 3600_000;
/** Seconds that a claim lasts: the provider's two attempts, and a reserve. */
const CLAIM_SECONDS = 20;
/** Milliseconds between two checks of what another process is fetching, and how long to wait in total. */
const LOOK_MS = 100;
const PATIENCE_MS = 30_000;

/**
 * Fetches a date from the provider once, for all concurrent callers in all processes, and stores the answer, also if
 * there are no rates. No transaction is open meanwhile.
 *
 * @returns the date of the received rates; null if there are none
 * @throws Problem too_many_requests, unavailable
 */
export type FetchDate = (date: string, asker: Asker) => Promise<string | null>;

export function dateFetcher(pool: pg.Pool, provider: Provider): FetchDate {
  const flights = new Map<string, Promise<string | null>>();
  // One request after the other, so that an outage is noticed before many requests have been counted.
  let last: Promise<unknown> = Promise.resolve();

  async function fetchDate(date: string, asker: Asker): Promise<string | null> {
    const end = performance.now() + PATIENCE_MS;
    while (performance.now() < end) {
      const attempt = last.then(() => fetchUnlessClaimed(pool, provider, date, asker));
      last = attempt.catch(() => {});
      const published = await attempt;
      if (published !== 'claimed') return published;
      await pause(LOOK_MS);
    }
    throw new Problem('exchange_rate.being_fetched', {}, { retryAfter: 2 });
  }

  async function fetchOnce(date: string, asker: Asker): Promise<string | null> {
    const flight = flights.get(date);
    if (flight) {
      return flight.catch(error => {
        // The first caller's exhausted budget is no reason to refuse the others.
        if (error instanceof UserBudgetSpent && error.userId !== asker.userId) return fetchOnce(date, asker);
        throw error;
      });
    }
    const own = fetchDate(date, asker).finally(() => flights.delete(date));
    flights.set(date, own);
    return own;
  }
  return fetchOnce;
}

async function fetchUnlessClaimed(
  pool: pg.Pool,
  provider: Provider,
  date: string,
  asker: Asker,
): Promise<string | null | 'claimed'> {
  const claimant = randomUUID();
  const isOurs = await claimFetch(pool, date, claimant, CLAIM_SECONDS);
  try {
    // After the claim: the previous holder has stored its answer by then.
    const known = await findPublished(pool, date, new Date());
    if (known !== undefined) return known;
    if (!isOurs) return 'claimed';
    const publication = await provider.historical(date, asker);
    // A later date than the requested one is an error of the provider.
    const published = publication && publication.date <= date ? publication.date : null;
    await transaction(pool, async database => {
      if (publication && published) await keepPublication(database, publication);
      await notePublished(database, date, published, believedUntil(date, published));
    });
    return published;
  } finally {
    if (isOurs) await deleteFetch(pool, date, claimant);
  }
}

/** How long a date is assumed to have no rates: an hour while it may still get them, then permanently. */
export function believedUntil(date: string, published: string | null): Date | null {
  const now = new Date();
  const settled = published === date || date < daysBefore(now.toISOString().slice(0, 10), SETTLED_DAYS);
  return settled ? null : new Date(now.getTime() + NOT_YET_MS);
}
