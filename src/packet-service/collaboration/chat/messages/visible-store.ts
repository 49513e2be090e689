import type { Database } from '../../../../platform/database/database.ts';
import type { PacketEvent } from '../../../core/log/waiting-store.ts';
import { findVisible } from '../../../core/packets/visible-store.ts';

/**
 * Which packets of some events can be read, by their ids, and whether they are erased. A message, whose row is with
 * those of its thread and perhaps on another server than its packet, can be read if both can.
 */
export async function findReadable(
  database: Database,
  events: readonly PacketEvent[],
): Promise<ReadonlyMap<string, { erased: boolean }>> {
  const packets = await findVisible(database, [...new Set(events.map(({ packetId }) => packetId))]);
  const keys = events.flatMap(({ packetId, threadId }) => {
    const packet = packets.get(packetId);
    return threadId !== undefined && packet && !packet.erased ? [{ packetId, threadId, ts: packet.ts }] : [];
  });
  if (keys.length === 0) return packets;
  const { rows } = await database.query<{ id: string }>({
    name: 'find_readable',
    text: `SELECT packet_id AS id FROM unnest($1::uuid[], $2::timestamptz[], $3::uuid[]) AS key (thread, moment, packet)
      JOIN chat_messages ON thread_id = thread AND ts = moment AND packet_id = packet`,
    values: [
      keys.map(({ threadId }) => threadId),
      keys.map(({ ts }) => ts),
      keys.map(({ packetId }) => packetId),
    ],
  });
  const messages = new Set(rows.map(({ id }) => id));
  for (const { packetId } of keys) if (!messages.has(packetId)) packets.delete(packetId);
  return packets;
}
