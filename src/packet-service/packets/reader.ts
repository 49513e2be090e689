import { coalesce } from '../../platform/concurrency/coalesce.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import { checkReader } from '../access/visibility.ts';
import { isUlid, ulidToUuid } from '../packet/ulid.ts';
import { findPackets, type Sections } from './read-store.ts';

/** Reads one packet for a user. Throws Problem not_found, or forbidden when the user may not read it. */
export type PacketReader = (user: string | undefined, id: string) => Promise<Sections>;

/** Simultaneous reads share one query; each still sees everything committed before it came in. */
export function packetReader(database: Database): PacketReader {
  const findPacket = coalesce((ids: string[]) => findPackets(database, ids), { max: 200 });
  return async (user, id) => {
    const ulid = id.toUpperCase();
    const uuid = isUlid(ulid) ? ulidToUuid(ulid) : '';
    const packet = uuid === '' ? undefined : await findPacket(uuid);
    if (!packet) throw new Problem('not_found', `there is no packet ${id}`);
    await checkReader(database, user, { id: uuid, threadId: packet.threadId });
    return packet;
  };
}
