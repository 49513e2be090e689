import { Type } from 'typebox';
import { errorAnswers, MAX_USER } from '../contract/schemas.ts';
import { LOG_CURSOR_PATTERN } from '../log/log-cursor.ts';

/** A place in the log, as clients keep it. */
export const LogCursor = Type.String({ pattern: LOG_CURSOR_PATTERN, examples: ['1499.0f3a9b21'] });

export const feedSchema = {
  tags: ['Events'],
  summary: 'What happens, as it happens, for one user',
  description:
    'Server-sent events: `chat.message` for each message of the threads that the user takes part in, ' +
    '`share.created` and `invitation.sent` for what others share, `erased` for a packet of these that an ' +
    'operator erased. The data is JSON: {notification_id, type, user_id, packet_id, ' +
    'thread_id | share_id | invitation_id, from_user, created_at}; it holds nothing of the packet. The id of an event ' +
    'is its place in the log. Whoever comes back with Last-Event-ID, to any process, first gets everything after ' +
    'it, then what is new, each once; without it only what is new. 409 when the place is of another log, as after a ' +
    'restored backup: start over without it. A feed ends after an hour, when its client does not take what comes, and ' +
    'when the service stops: come back with Last-Event-ID. A caller may have FEEDS_PER_CALLER feeds open (429), a ' +
    'process 5,000 (503).',
  headers: Type.Object({
    'last-event-id': Type.Optional({ ...LogCursor, description: 'id of the last event that was received' }),
  }),
  querystring: Type.Object({
    user_id: Type.Optional(
      Type.String({ maxLength: MAX_USER, description: 'whose events; with a token it is the token`s user' }),
    ),
    last_event_id: Type.Optional({ ...LogCursor, description: 'for clients that cannot set the header' }),
  }),
  response: {
    200: {
      description: 'the events, without end',
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
