import type { ChatMessage } from '../chat/messages/message.ts';
import type { LogEvent } from '../log/store.ts';
import type { Packet } from '../packet/packet.ts';
import { uuidTime } from '../packet/ulid.ts';

/** The entry of the log that a stored packet becomes: with a thread a message of it, otherwise a packet. */
export function packetEvent(packet: Packet, message: ChatMessage | undefined): LogEvent {
  const { id, geoid, additionalGeoids } = packet;
  const event = { packetId: id, geoids: [geoid, ...additionalGeoids] };
  if (!message) return { kind: 'packet', ...event };
  const details = messageDetails(message);
  return { kind: 'chat.message', ...event, threadId: message.threadId, ...(details && { details }) };
}

/**
 * The live feed tells who wrote and when; kept in the log, a feed need not read packets. When is left out where the
 * packet's id tells it, as it does unless the message was finalized by a client.
 */
function messageDetails({ sender, ts, packetId }: ChatMessage): Record<string, unknown> | undefined {
  const createdAt = `${ts.slice(0, 23)}Z`;
  const idHasTime = Date.parse(createdAt) === uuidTime(packetId);
  if (idHasTime && sender === undefined) return undefined;
  return { ...(sender !== undefined && { from_user: sender }), ...(!idHasTime && { created_at: createdAt }) };
}
