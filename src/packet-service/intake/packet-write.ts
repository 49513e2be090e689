import type { ChatMessage } from '../collaboration/chat/messages/message.ts';
import { chatMessageRow, chatMessageTable } from '../collaboration/chat/messages/store.ts';
import type { AsOf } from '../core/geoids/resolution.ts';
import type { Packet } from '../core/packet-format/packet.ts';
import type { PacketWrite } from '../core/writer/write-store.ts';
import { packetEvent } from './packet-event.ts';

/** A new packet, and its message if it is one. */
export interface NewPacket {
  packet: Packet;
  chat?: ChatMessage | undefined;
  /** what its GeoIDs depend on */
  asOf?: AsOf | undefined;
}

/** Makes a packet with a new id. Its location and thread have been looked up before. */
export type MakePacket = () => NewPacket;

/** The write of a new packet: the packet, its log entry, and the row of its message. */
export function packetWrite(
  { packet, chat, asOf }: NewPacket,
  { freshId, claim }: Pick<PacketWrite, 'freshId' | 'claim'>,
): PacketWrite {
  const event = packetEvent(packet, chat);
  const rows = chat && [{ table: chatMessageTable, values: chatMessageRow(chat) }];
  return { packet, event, rows, freshId, claim, asOf };
}
