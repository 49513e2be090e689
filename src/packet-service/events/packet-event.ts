import type { Packet } from '../packets/packet.ts';
import type { LogEvent } from './store.ts';

/** The entry of the log that a stored packet becomes: with a thread a message of it, otherwise a packet. */
export function packetEvent(packet: Packet): LogEvent {
  const { id, geoid, extraGeoids, threadId } = packet;
  const event = { packetId: id, geoids: [geoid, ...extraGeoids] };
  if (threadId === null) return { kind: 'packet', ...event };
  // The live feed tells who wrote and when; kept in the log, a feed need not read packets.
  const { from_user } = JSON.parse(packet.body) as { from_user?: unknown };
  return {
    kind: 'chat.message',
    ...event,
    threadId,
    details: {
      ...(typeof from_user === 'string' && { from_user }),
      created_at: `${packet.ts.slice(0, 23)}Z`,
    },
  };
}
