import { Type } from '../../../platform/type.ts';
import { errorAnswers, GeoId, MAX_USER } from '../../core/contract/schemas.ts';
import { ErasedPacket, PacketObject } from '../../core/packets/schemas.ts';
import { PositionHeaders } from '../../core/replicas/schemas.ts';
import { LogCursor } from '../feed/schemas.ts';

/** Longest wait of one request, in seconds; longer ones are reduced to this. */
export const MAX_WAIT = 60;

const LogPosition = Type.Integer({ description: 'position in the log; it never changes' });

export const syncSchema = {
  operationId: 'syncPackets',
  tags: ['Sync'],
  headers: PositionHeaders,
  summary: 'Read packets in log order',
  description:
    'For clients that keep a copy. Omit `since` in the first request; then send the `since` of the previous ' +
    'answer. Every packet is returned once, in the same order for everyone. While `more` is true, send the next ' +
    'request at once; then use `wait` to get an answer as soon as there is a new entry. A page can be empty and ' +
    "still advance. With a token, messages of other people's threads are left out. Returns 409 if `since` " +
    'belongs to another log, for example after a restore: start over without it. A caller may have ' +
    'FEEDS_PER_CALLER requests waiting (429), a process 5,000 (503).',
  querystring: Type.Object({
    since: Type.Optional({
      ...LogCursor,
      examples: ['0'],
      description: 'since of the previous answer; by default the start of the log',
    }),
    geoid: Type.Optional({
      ...GeoId,
      description: 'only packets with this GeoID, their own or an additional one',
    }),
    user_id: Type.Optional(
      Type.String({
        maxLength: MAX_USER,
        description:
          "only messages of this user's current threads, and packets shared with the user, at the position of the " +
          "share; can't be combined with geoid",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'packets per page: 100 by default, at most 1000' }),
    ),
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        description: `seconds to wait for new entries: 0 by default, at most ${MAX_WAIT}`,
      }),
    ),
  }),
  response: {
    200: Type.Object(
      {
        packets: Type.Array(
          Type.Union([
            Type.Object({
              position: LogPosition,
              kind: Type.Union(
                (['packet', 'chat.message', 'share.created'] as const).map(kind => Type.Literal(kind)),
                { description: 'the kind of the entry' },
              ),
              packet: PacketObject,
            }),
            Type.Object({
              position: LogPosition,
              kind: Type.Literal('erased', {
                description: 'an operator erased the packet: delete your copies too',
              }),
              packet: ErasedPacket,
            }),
          ]),
        ),
        count: Type.Integer({ description: 'packets on this page' }),
        since: { ...LogCursor, description: 'cursor for the next request' },
        more: Type.Boolean({ description: 'whether the log has further entries' }),
      },
      { description: 'a page' },
    ),
    ...errorAnswers(400, 403, 409, 429, 500, 503),
  },
};
