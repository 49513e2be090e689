import { Type } from 'typebox';
import { errorAnswers, GeoId, MAX_USER } from '../contract/schemas.ts';
import { LogCursor } from '../feed/schemas.ts';
import { ErasedPacket, PacketObject } from '../packets/schemas.ts';

/** Longest wait of one request, in seconds; a longer one is taken as this. */
export const MAX_WAIT = 60;

const LogPosition = Type.Integer({ description: 'place in the log; it never changes' });

export const syncSchema = {
  tags: ['Sync'],
  summary: 'Packets in the order of the log, after a position',
  description:
    'For clients that keep a copy: ask with the `since` of the answer before, at first without it, and every packet comes once, ' +
    'in the same order for everyone. While `more` is true ask again at once; then ask with `wait`, and the answer ' +
    'comes when there is something. A page may be empty and move on nevertheless. With a token the messages of ' +
    'threads in which its user takes no part are left out. 409 when `since` is of another log, as after a restored ' +
    'backup: start over without it. A caller may have FEEDS_PER_CALLER requests waiting (429), a process 5,000 (503).',
  querystring: Type.Object({
    since: Type.Optional({
      ...LogCursor,
      description: 'since of the answer before; from the start of the log unless given',
    }),
    geoid: Type.Optional({ ...GeoId, description: 'only packets with this GeoID, own or further' }),
    user_id: Type.Optional(
      Type.String({
        maxLength: MAX_USER,
        description:
          'only messages of the threads that this user takes part in now, and packets that were shared with the ' +
          'user, at the place of the share; not together with geoid',
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, description: 'packets a page: 100 unless given, at most 1000' }),
    ),
    wait: Type.Optional(
      Type.Number({
        minimum: 0,
        description: `seconds to wait while there is nothing: 0 unless given, at most ${MAX_WAIT}`,
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
                { description: 'what came at that place' },
              ),
              packet: PacketObject,
            }),
            Type.Object({
              position: LogPosition,
              kind: Type.Literal('erased', {
                description: 'the packet was erased by an operator: copies of it must go, too',
              }),
              packet: ErasedPacket,
            }),
          ]),
        ),
        count: Type.Integer({ description: 'packets on this page' }),
        since: { ...LogCursor, description: 'place to go on from, to be sent back as it is' },
        more: Type.Boolean({ description: 'whether the log goes on from there' }),
      },
      { description: 'one page' },
    ),
    ...errorAnswers(400, 403, 409, 429, 500, 503),
  },
};
