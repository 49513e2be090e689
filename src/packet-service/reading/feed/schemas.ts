import { Type } from '../../../platform/type.ts';
import { errorAnswers, MAX_USER } from '../../core/contract/schemas.ts';
import { LOG_CURSOR_PATTERN } from '../../core/log/log-cursor.ts';

/** A cursor of the log, as clients store it. */
export const LogCursor = Type.String({ pattern: LOG_CURSOR_PATTERN, examples: ['1499.0f3a9b21'] });

export const feedSchema = {
  operationId: 'streamEvents',
  tags: ['Events'],
  summary: "Open a user's live feed",
  description:
    "Server-sent events: `chat.message` for each message in the user's threads, `share.created` and " +
    '`invitation.sent` for shares by others, and `erased` if an operator erases one of these packets. The data ' +
    'is JSON: {notification_id, type, user_id, packet_id, thread_id | share_id | invitation_id, from_user, ' +
    'created_at}; it has no content of the packet. The id of an event is its cursor in the log. A client that ' +
    'reconnects to any process with Last-Event-ID gets every later event exactly once; without it, only new ' +
    'events. Returns 409 if the cursor belongs to another log, for example after a restore: start over without ' +
    'it. A feed ends after an hour, when its client reads too slowly, and when the service stops: reconnect with ' +
    'Last-Event-ID. A caller may have FEEDS_PER_CALLER feeds open (429), a process 5,000 (503).',
  headers: Type.Object({
    'last-event-id': Type.Optional({ ...LogCursor, description: 'id of the last event received' }),
  }),
  querystring: Type.Object({
    user_id: Type.Optional(
      Type.String({ maxLength: MAX_USER, description: "the user; with a token, the token's user" }),
    ),
    last_event_id: Type.Optional({
      ...LogCursor,
      description: "like the header Last-Event-ID, for clients that can't set it",
    }),
  }),
  response: {
    200: {
      description: 'the stream of events',
      content: {
        'text/event-stream': {
          schema: Type.String({
            examples: [
              'event: chat.message\nid: 4711.0f3a9b21\ndata: {"type":"chat.message","user_id":"amina",' +
                '"notification_id":"01JD7Q2M8XW3N5R6T8V9Y0Z1A2",' +
                '"packet_id":"01JD7Q2M8XW3N5R6T8V9Y0Z1A2","thread_id":"01JD7Q2M8XW3N5R6T8V9Y0Z1A3",' +
                '"from_user":"ben","created_at":"2026-03-01T08:15:00.000Z"}\n\n',
            ],
          }),
        },
      },
    },
    ...errorAnswers(400, 403, 409, 429, 500, 503),
  },
};
