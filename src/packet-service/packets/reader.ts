import { coalesce } from '../../platform/concurrency/coalesce.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Database } from '../../platform/postgres/database.ts';
import type { Caller } from '../access/caller.ts';
import type { Visibility } from '../access/visibility.ts';
import { parseUlid } from '../packet/ulid.ts';
import { findPackets, type Sections } from './read-store.ts';

/** Reads one packet. Throws Problem not_found; forbidden or unauthenticated when the caller may not read it. */
export type PacketReader = (caller: Caller, id: string) => Promise<Sections>;

/** Simultaneous reads share one query; each still sees everything committed before it came in. */
export function packetReader(database: Database, visibility: Visibility): PacketReader {
  const findPacket = coalesce((ids: string[]) => findPackets(database, ids), { max: 200 });
  return async (caller, id) => {
    const uuid = parseUlid(id);
    const packet = uuid && (await findPacket(uuid));
    if (!packet) throw new Problem('not_found', `there is no packet ${id}`);
    await visibility.checkReader(caller, { ...packet, id: uuid });
    return packet;
  };
}
