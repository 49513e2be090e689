import type { ServerResponse } from 'node:http';
import { setTimeout as rest } from 'node:timers/promises';
import { Gauge, type Registry } from 'prom-client';
import { endsWithin } from '../../../platform/concurrency/ends-within.ts';
import { isReplica, type ReadFrom } from '../../../platform/database/replicas/read-from.ts';
import { slotsOfCallers } from '../../../platform/http/caller-slots.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { sendPage } from '../../../platform/http/streamed-text.ts';
import type { CallerSlots } from '../../../platform/limits/caller-slots.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { actingUser } from '../../core/access/caller.ts';
import type { Visibility } from '../../core/access/visibility.ts';
import type { Interest } from '../../core/log/audience.ts';
import type { Broadcast } from '../../core/log/broadcast.ts';
import { parseLogCursor } from '../../core/log/log-cursor.ts';
import { geoidKey } from '../../core/log/store.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../core/packets/page-body.ts';
import type { ChooseReads } from '../../core/replicas/reads.ts';
import { MAX_WAIT, syncSchema } from './schemas.ts';
import { pageAsJson, readSyncPage, type SyncPage, type SyncRequest } from './sync-page.ts';

/** Requests that can wait in one process at the same time. */
const MAX_WAITING = 5000;
/** Minimum time between two reads of a waiting request, in milliseconds: new entries may be hidden from it. */
const REST_MS = 200;

interface Syncing {
  reads: ChooseReads;
  news: Broadcast;
  visibility: Visibility;
  settings: Pick<Settings, 'FEEDS_PER_CALLER'>;
  metrics: Registry;
  slots: CallerSlots;
}

/** Offline sync: the log page by page, with long polling. */
export function registerSync(app: Server, context: Syncing): void {
  const { reads, news, settings, metrics, slots } = context;
  const what = 'waiting requests';
  const takeSlot = slotsOfCallers(slots, { perCaller: settings.FEEDS_PER_CALLER, what, retryAfter: 5 });
  let waiting = 0;
  let stopping = false;
  measureWaiting(metrics, () => waiting);

  app.get('/sync/packets', { schema: syncSchema }, async (request, reply) => {
    const { geoid, user_id, wait = 0, since = '0' } = request.query;
    if (geoid !== undefined && user_id !== undefined) {
      throw new Problem('sync.user_and_geoid', { field: 'user_id' });
    }
    const userId = user_id === undefined ? undefined : await actingUser(request, 'user_id', user_id);
    const limit = Math.min(request.query.limit ?? DEFAULT_LIMIT, MAX_LIMIT);
    if (wait > 0) await takeSlot(request, reply, request.user);
    const wanted = {
      since: parseLogCursor(since),
      limit,
      geoid,
      userId,
      reader: { user: request.user, anonymous: request.anonymous },
    };
    reply.header('cache-control', 'no-store');
    const from = await reads(request);
    return sendPage(reply, pageAsJson(from.database, await readWaiting(from, wanted, wait, reply.raw)));
  });

  app.addHook('preClose', async () => {
    stopping = true;
  });

  /** The next page that is not empty or is followed by more; an empty one on timeout. */
  async function readWaiting(
    from: ReadFrom,
    wanted: SyncRequest,
    seconds: number,
    response: ServerResponse,
  ): Promise<SyncPage> {
    const deadline = Date.now() + Math.min(seconds, MAX_WAIT) * 1000;
    let page = await readPage(context, from, wanted);
    while (page.items.length === 0) {
      const left = deadline - Date.now();
      if (left <= 0 || stopping || response.destroyed) break;
      if (!page.more) await somethingCame(interestOf(wanted), page.since.position, left, response);
      page = await readPage(context, from, { ...wanted, since: page.since }, true);
      if (page.items.length === 0 && !page.more) await rest(REST_MS);
    }
    return page;
  }

  async function somethingCame(interest: Interest, since: number, ms: number, response: ServerResponse) {
    if (waiting >= MAX_WAITING) {
      throw new Problem('sync.too_many_waiting', {}, { retryAfter: 5 });
    }
    waiting++;
    const { promise, resolve } = Promise.withResolvers<void>();
    response.once('close', resolve);
    const leave = news.onNext(interest, since, resolve);
    await endsWithin(promise, ms);
    leave();
    response.off('close', resolve);
    waiting--;
  }
}

function measureWaiting(metrics: Registry, waiting: () => number): void {
  new Gauge({
    name: 'sync_waiting',
    help: 'sync requests waiting for new entries',
    registers: [metrics],
    collect() {
      this.set(waiting());
    },
  });
}

/**
 * Reads a page. What a replica does not know (a later position, a replaced log), the primary does.
 *
 * @param isWoken whether there should be something: what the replica then lacks is read on the primary
 */
async function readPage(
  { visibility, news }: Pick<Syncing, 'visibility' | 'news'>,
  from: ReadFrom,
  wanted: SyncRequest,
  isWoken = false,
): Promise<SyncPage> {
  const onPrimary = () => readSyncPage({ database: from.primary, primary: from.primary }, visibility, wanted);
  try {
    const page = await readSyncPage(from, visibility, wanted);
    const lacks =
      isWoken && page.items.length === 0 && !page.more && page.since.position < (news.position ?? 0);
    return lacks && isReplica(from) ? onPrimary() : page;
  } catch (error) {
    if (isReplica(from) && error instanceof Problem) return onPrimary();
    throw error;
  }
}

function interestOf({ geoid, userId }: SyncRequest): Interest {
  if (userId !== undefined) return { userId };
  return geoid === undefined ? 'anything' : { geoidKey: geoidKey(geoid) };
}
