import type { ChatMessage } from '../collaboration/chat/messages/message.ts';
import type { LogEvent } from '../core/log/store.ts';
import type { Packet } from '../core/packet-format/packet.ts';
import { uuidTime } from '../core/packet-format/ulid.ts';

/** The log entry of a packet: `chat.message` if it has a thread, otherwise `packet`. */
export function packetEvent(packet: Packet, message: ChatMessage | undefined): LogEvent {
  const { id, geoid, additionalGeoids } = packet;
  const event = { packetId: id, geoids: [geoid, ...additionalGeoids] };
  if (!message) return { kind: 'packet', ...event };
  const details = messageDetails(message);
  return { kind: 'chat.message', ...event, threadId: message.threadId, ...(details && { details }) };
}

/**
 * Events of the live feed have sender and time; they are stored in the log so that feeds need not read packets. The
 * time is omitted if it equals that in the packet's id, as for all but finalized messages.
 */
function messageDetails({ sender, ts, packetId }: ChatMessage): Record<string, unknown> | undefined {
  const createdAt = `${ts.slice(0, 23)}Z`;
  const idHasTime = Date.parse(createdAt) === uuidTime(packetId);
  if (idHasTime && sender === undefined) return undefined;
  return { ...(sender !== undefined && { from_user: sender }), ...(!idHasTime && { created_at: createdAt }) };
}
