import { slotsOfCallers } from '../../../platform/http/caller-slots.ts';
import type { Server } from '../../../platform/http/server.ts';
import type { CallerSlots } from '../../../platform/limits/caller-slots.ts';
import type { Settings } from '../../../platform/settings/settings.ts';
import { namedUser } from '../../core/access/caller.ts';
import { parseLogCursor } from '../../core/log/log-cursor.ts';
import type { Feeds } from './feeds.ts';
import { feedSchema } from './schemas.ts';

/** The live feed. */
export function registerEvents(
  app: Server,
  {
    feeds,
    settings,
    slots,
  }: { feeds: Feeds; settings: Pick<Settings, 'FEEDS_PER_CALLER'>; slots: CallerSlots },
): void {
  const takeSlot = slotsOfCallers(slots, {
    perCaller: settings.FEEDS_PER_CALLER,
    what: 'feeds',
    retryAfter: 5,
  });
  // No HEAD route: it would open a feed that nobody reads.
  app.get('/events', { schema: feedSchema, exposeHeadRoute: false }, async (request, reply) => {
    const { user_id, last_event_id } = request.query;
    const userId = await namedUser(request, 'user_id', user_id);
    // The header takes precedence: a browser reconnects to the same URL, with a newer header.
    const after = request.headers['last-event-id'] ?? last_event_id;
    const { anonymous, claims } = request;
    const cursor = after === undefined ? undefined : parseLogCursor(after);
    await takeSlot(request, reply, request.user);
    await feeds.open({ userId, anonymous, claims }, cursor, reply.raw, reply.getHeaders());
    reply.hijack();
  });
}
