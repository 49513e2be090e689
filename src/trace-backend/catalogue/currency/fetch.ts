import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { transaction } from '../../../platform/database/database.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { daysBefore } from './calendar.ts';
import { type Provider, type RequestingUser, UserBudgetSpent } from './provider.ts';
import { claimFetch, deleteFetch, findPublished, keepPublication, notePublished } from './store.ts';

/** Days after which no more rates of a date are published. */
const SETTLED_DAYS = 2;
/** How long a date counts as not yet published, in milliseconds. */
const RECHECK_MS = 3600_000;
/** Duration of a claim in seconds: two attempts at the provider, and a reserve. */
const CLAIM_SECONDS = 20;
/** Milliseconds between two checks for the result of another process, and the maximum wait. */
const POLL_MS = 100;
const MAX_WAIT_MS = 30_000;

/**
 * Fetches a date from the provider once, for all concurrent callers in all processes, and stores the answer, even if there
 * are no rates. No transaction is open meanwhile.
 *
 * @returns the date of the received rates; null if there are none
 * @throws Problem too_many_requests, unavailable
 */
type FetchDate = (date: string, requester: RequestingUser) => Promise<string | null>;

export function dateFetcher(pool: pg.Pool, provider: Provider): FetchDate {
  const flights = new Map<string, Promise<string | null>>();
  // One request after the other, so that an outage is noticed before many requests have been counted.
  let last: Promise<unknown> = Promise.resolve();

  async function fetchDate(date: string, requester: RequestingUser): Promise<string | null> {
    const end = performance.now() + MAX_WAIT_MS;
    while (performance.now() < end) {
      const attempt = last.then(() => fetchUnlessClaimed(pool, provider, date, requester));
      last = attempt.catch(() => {});
      const published = await attempt;
      if (published !== 'claimed') return published;
      await pause(POLL_MS);
    }
    throw new Problem('exchange_rate.being_fetched', {}, { retryAfter: 2 });
  }

  async function fetchOnce(date: string, requester: RequestingUser): Promise<string | null> {
    const flight = flights.get(date);
    if (flight) {
      return flight.catch(error => {
        // The first caller's exhausted budget is no reason to refuse the others.
        if (error instanceof UserBudgetSpent && error.userId !== requester.userId)
          return fetchOnce(date, requester);
        throw error;
      });
    }
    const started = fetchDate(date, requester).finally(() => flights.delete(date));
    flights.set(date, started);
    return started;
  }
  return fetchOnce;
}

async function fetchUnlessClaimed(
  pool: pg.Pool,
  provider: Provider,
  date: string,
  requester: RequestingUser,
): Promise<string | null | 'claimed'> {
  const claimant = randomUUID();
  const hasClaim = await claimFetch(pool, date, claimant, CLAIM_SECONDS);
  try {
    // Read after the claim, because the previous holder has stored its answer by then.
    const stored = await findPublished(pool, date, new Date());
    if (stored !== undefined) return stored;
    if (!hasClaim) return 'claimed';
    const publication = await provider.historical(date, requester);
    // A later date than the requested one is an error of the provider.
    const published = publication && publication.date <= date ? publication.date : null;
    await transaction(pool, async database => {
      if (publication && published) await keepPublication(database, publication);
      await notePublished(database, date, published, believedUntil(date, published));
    });
    return published;
  } finally {
    if (hasClaim) await deleteFetch(pool, date, claimant);
  }
}

/** How long a date is assumed to have no rates: an hour while it may still get them, then permanently. */
export function believedUntil(date: string, published: string | null): Date | null {
  const now = new Date();
  const settled = published === date || date < daysBefore(now.toISOString().slice(0, 10), SETTLED_DAYS);
  return settled ? null : new Date(now.getTime() + RECHECK_MS);
}
