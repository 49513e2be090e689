import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import { countJobs } from '../../platform/jobs/store.ts';
import { metricsAsJson } from '../../platform/metrics/as-json.ts';
import type { NotedReplay, UserRegistry } from '../../platform/tokens/user-registry.ts';
import { isAdministrator, tokenNeeded } from '../access/caller.ts';
import { insertCommand } from '../audit/store.ts';
import { readCursor } from '../contract/cursor.ts';
import { isUlid, ulidToUuid, uuidToUlid } from '../packet-format/ulid.ts';
import { maskedContact } from '../sharing/directory/contact.ts';
import { countDead, type DeadLetter, findDeliveries, listDead } from '../sharing/notifications/store.ts';
import { jobsSchema, listDeadLettersSchema, metricsSchema, replaySchema } from './schemas.ts';

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
/** Dead letters are counted up to this. */
const COUNTED = 1000;

export interface AdministrationContext {
  pool: pg.Pool;
  metrics: Registry;
  /** PostgreSQL's schema of the job queue */
  jobsSchema: string;
  /** the trace backend of the same process, if it is the registry of users */
  registry: UserRegistry | undefined;
  /** Delivers dead letters again: all, or those of a notification (uuid form); returns how many. */
  replay: (notificationId: string | undefined) => Promise<number>;
}

/** What administrators see of the work behind the requests, and can repeat of it. */
export function registerAdministration(app: Server, context: AdministrationContext): void {
  const { pool, metrics, replay } = context;

  app.get('/administration/metrics', { schema: metricsSchema }, async request => {
    requireAdministrator(request);
    return { metrics: await metricsAsJson(metrics) };
  });

  app.get('/administration/jobs', { schema: jobsSchema }, async request => {
    requireAdministrator(request);
    const queues = await countJobs(pool, context.jobsSchema);
    return { queues, dead_letters: await countDead(pool, COUNTED) };
  });

  app.get('/administration/dead-letters', { schema: listDeadLettersSchema }, async request => {
    requireAdministrator(request);
    const { limit = DEFAULT_LIMIT, cursor, ids: wanted } = request.query;
    if (wanted !== undefined) {
      return { dead_letters: (await findDeliveries(pool, wanted.split(',').map(idOf))).map(asItem) };
    }
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const size = Math.min(limit, MAX_LIMIT);
    // One extra notification shows whether there is a next page.
    const found = Map.groupBy(
      await listDead(pool, { after, limit: size + 1 }),
      ({ notificationId }) => notificationId,
    );
    const ids = [...found.keys()];
    const shown = ids.slice(0, size);
    return {
      dead_letters: shown.flatMap(id => (found.get(id) as DeadLetter[]).map(asItem)),
      ...(ids.length > size && { next_cursor: uuidToUlid(shown.at(-1) as string) }),
    };
  });

  app.post('/administration/dead-letters/replay', { schema: replaySchema }, async request => {
    requireAdministrator(request);
    const { notification_id: id } = request.body;
    const replayed = await replay(id === undefined ? undefined : ulidToUuid(id.toUpperCase()));
    request.log.info({ user: request.user, replayed, id }, 'dead letters are delivered again');
    if (replayed > 0) await noteReplay(context, request, { replayed, notificationId: id?.toUpperCase() });
    return { replayed };
  });
}

/** Writes a replay into the audit of this service, and into that of a trace backend in the same process. */
async function noteReplay(
  { pool, registry }: AdministrationContext,
  { user: userId = '', ip }: FastifyRequest,
  replay: Pick<NotedReplay, 'replayed' | 'notificationId'>,
): Promise<void> {
  const { replayed, notificationId: id } = replay;
  const details = { by: `user ${userId}`, ...(id && { id }), replayed };
  await insertCommand(pool, { at: new Date(), command: 'notifications replay', details });
  await registry?.noteReplay({ userId, ip, ...replay });
}

/** An id in the uuid form. @throws Problem invalid */
function idOf(ulid: string): string {
  const id = ulid.toUpperCase();
  if (!isUlid(id)) throw new Problem('invalid', 'ids must be notification_ids, with commas between');
  return ulidToUuid(id);
}

/** @throws Problem unauthenticated, forbidden */
function requireAdministrator(request: FastifyRequest): void {
  if (isAdministrator(request)) return;
  if (request.anonymous) throw tokenNeeded('what administrators see');
  throw new Problem('forbidden', 'this is for a SYSTEM_ADMIN');
}

function asItem(letter: DeadLetter) {
  const { notificationId, channel, type, userId, fromUser, createdAt, attempts, lastError, lastAttemptAt } =
    letter;
  const { address, contact, packetId, status } = letter;
  return {
    notification_id: uuidToUlid(notificationId),
    channel,
    type,
    ...(userId !== null && { user_id: userId }),
    recipient: maskedContact(address ?? contact),
    packet_id: uuidToUlid(packetId),
    from_user: fromUser,
    created_at: createdAt.toISOString(),
    status,
    attempts,
    ...(lastError !== null && { last_error: lastError }),
    ...(lastAttemptAt && { last_attempt_at: lastAttemptAt.toISOString() }),
  };
}
