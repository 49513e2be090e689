import type pg from 'pg';
import type { Server } from '../../../platform/http/server.ts';
import { ulidToUuid } from '../../core/packet-format/ulid.ts';
import type { PacketReader } from '../../core/packets/reader.ts';
import { erasedPacket, verifyPacket } from './packet.ts';
import { verifyPacketSchema } from './schemas.ts';

/** Verification of packets. */
export function registerVerify(
  app: Server,
  { pool, readPacket }: { pool: pg.Pool; readPacket: PacketReader },
): void {
  app.get('/packets/:id/verify', { schema: verifyPacketSchema }, async request => {
    const { id } = request.params;
    const packet = await readPacket(request, id, { remains: true });
    return packet.erasedAt === null
      ? verifyPacket(pool, ulidToUuid(id.toUpperCase()))
      : erasedPacket(packet, packet.erasedAt);
  });
}
