import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Registry } from 'prom-client';
import { Problem } from '../../../platform/http/problems.ts';
import type { Server } from '../../../platform/http/server.ts';
import { countJobs } from '../../../platform/jobs/store.ts';
import { findMailOutcomes } from '../../../platform/mail/outcomes-store.ts';
import { metricsAsJson } from '../../../platform/metrics/as-json.ts';
import type { NotedDecision, UserRegistry } from '../../../platform/tokens/user-registry.ts';
import {
  type DeadLetter,
  deliveries,
  findDeliveries,
  listDead,
  theDelivery,
  through,
} from '../../collaboration/sharing/notifications/store.ts';
import { isAdministrator } from '../../core/access/caller.ts';
import { insertCommand } from '../../core/audit/store.ts';
import { readCursor } from '../../core/contract/cursor.ts';
import { isUlid, ulidToUuid, uuidToUlid } from '../../core/packet-format/ulid.ts';
import {
  dismissDeadLetterSchema,
  jobsSchema,
  listDeadLettersSchema,
  metricsSchema,
  replaySchema,
} from './schemas.ts';

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

/** The background work that administrators can see and retry. */
export function registerAdministration(app: Server, context: AdministrationContext): void {
  const { pool, metrics } = context;

  app.get('/administration/metrics', { schema: metricsSchema }, async request => {
    requireAdministrator(request);
    return { metrics: await metricsAsJson(metrics) };
  });

  app.get('/administration/jobs', { schema: jobsSchema }, async request => {
    requireAdministrator(request);
    const queues = await countJobs(pool, context.jobsSchema);
    const mails = await deliveries.countDead(pool, COUNTED, through('mail'));
    const { sentAt, failedAt, error } = await findMailOutcomes(pool);
    return {
      queues,
      dead_letters: await deliveries.countDead(pool, COUNTED),
      mails: {
        given_up: mails,
        ...(sentAt && { sent_at: sentAt.toISOString() }),
        ...(failedAt && { failed_at: failedAt.toISOString(), last_error: error }),
      },
    };
  });

  registerDeadLetters(app, context);
}

/** Failed deliveries. */
function registerDeadLetters(app: Server, context: AdministrationContext): void {
  const { pool, replay } = context;
  app.get('/administration/dead-letters', { schema: listDeadLettersSchema }, async request => {
    requireAdministrator(request);
    const { limit = DEFAULT_LIMIT, cursor, ids: wanted } = request.query;
    if (wanted !== undefined) {
      return { dead_letters: (await findDeliveries(pool, wanted.split(',').map(idOf))).map(asItem) };
    }
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const size = Math.min(limit, MAX_LIMIT);
    // One extra notification shows whether there is a next page.
    const byNotification = Map.groupBy(
      await listDead(pool, { after, limit: size + 1 }),
      ({ notificationId }) => notificationId,
    );
    const ids = [...byNotification.keys()];
    const shown = ids.slice(0, size);
    return {
      dead_letters: shown.flatMap(id => (byNotification.get(id) as DeadLetter[]).map(asItem)),
      ...(ids.length > size && { next_cursor: uuidToUlid(shown.at(-1) as string) }),
    };
  });

  app.post('/administration/dead-letters/replay', { schema: replaySchema }, async request => {
    requireAdministrator(request);
    const { notification_id: id } = request.body;
    const replayed = await replay(id === undefined ? undefined : ulidToUuid(id.toUpperCase()));
    request.log.info({ user: request.user, replayed, id }, 'dead letters queued for delivery again');
    const action = 'REPLAY_NOTIFICATIONS';
    if (replayed > 0) await note(context, request, { action, count: replayed, id: id?.toUpperCase() });
    return { replayed };
  });

  app.delete(
    '/administration/dead-letters/:notification_id/:channel',
    { schema: dismissDeadLetterSchema },
    async request => {
      requireAdministrator(request);
      const { notification_id, channel } = request.params;
      const id = notification_id.toUpperCase();
      if (!isUlid(id)) throw new Problem('dead_letter.unknown');
      const which = theDelivery({ notificationId: ulidToUuid(id), channel });
      const dismissed = await deliveries.settle(pool, which, 'dismissed', new Date());
      if (dismissed === 0) throw new Problem('dead_letter.unknown');
      request.log.info({ user: request.user, id, channel }, 'a dead letter was dismissed');
      await note(context, request, { action: 'DISMISS_NOTIFICATION', count: 1, id, channel });
      return { dismissed: 1 };
    },
  );
}

/** The commands of this service's audit. */
const COMMANDS = {
  REPLAY_NOTIFICATIONS: 'notifications replay',
  DISMISS_NOTIFICATION: 'notifications dismiss',
} as const;

/** Writes a decision into the audit of this service, and into that of a trace backend in the same process. */
async function note(
  { pool, registry }: AdministrationContext,
  { user: userId = '', ip }: FastifyRequest,
  {
    action,
    count,
    id,
    channel,
  }: Pick<NotedDecision, 'action' | 'count'> & { id?: string | undefined; channel?: string },
): Promise<void> {
  const details = { by: `user ${userId}`, ...(id && { id }), ...(channel && { channel }), count };
  await insertCommand(pool, { at: new Date(), command: COMMANDS[action], details });
  const [about] = id === undefined ? [] : await findDeliveries(pool, [ulidToUuid(id)]);
  const recipient = about?.userId ?? undefined;
  await registry?.noteDecision({ userId, ip, action, count, notificationId: id, recipient });
}

/** An id in the uuid form. @throws Problem invalid */
function idOf(ulid: string): string {
  const id = ulid.toUpperCase();
  if (!isUlid(id)) throw new Problem('dead_letter.malformed_ids', { field: 'ids' });
  return ulidToUuid(id);
}

/** @throws Problem unauthenticated, forbidden */
function requireAdministrator(request: FastifyRequest): void {
  if (isAdministrator(request)) return;
  if (request.anonymous) throw new Problem('administration.needs_token');
  throw new Problem('user.not_system_admin');
}

function asItem(letter: DeadLetter) {
  const { notificationId, channel, type, userId, address, contact, packetId, fromUser, createdAt } = letter;
  const { status, attempts, replayedAt, lastError, lastAttemptAt } = letter;
  return {
    notification_id: uuidToUlid(notificationId),
    channel,
    type,
    ...(userId !== null && { user_id: userId }),
    recipient: address ?? contact,
    packet_id: uuidToUlid(packetId),
    from_user: fromUser,
    created_at: createdAt.toISOString(),
    status,
    attempts,
    ...(replayedAt && { replayed_at: replayedAt.toISOString() }),
    ...(lastError !== null && { last_error: lastError }),
    ...(lastAttemptAt && { last_attempt_at: lastAttemptAt.toISOString() }),
  };
}
