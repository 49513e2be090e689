import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { Database } from '../../../platform/database/database.ts';
import type { ReadFrom } from '../../../platform/database/replicas/read-from.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Caller } from '../access/caller.ts';
import type { Visibility } from '../access/visibility.ts';
import { parseUlid } from '../packet-format/ulid.ts';
import { findPackets, type StoredPacket } from './read-store.ts';

/**
 * Reads one packet.
 *
 * @param options remains: also return the remains of an erased packet; from: where it is looked for before it is looked
 *   for on the primary
 * @throws Problem not_found; gone; forbidden or unauthenticated when the caller may not read it
 */
export type PacketReader = (
  caller: Caller,
  id: string,
  options?: { remains?: boolean; from?: ReadFrom },
) => Promise<StoredPacket>;

/** @throws Problem gone when the packet was erased */
export function refuseErased({ erasedAt }: Pick<StoredPacket, 'erasedAt'>, id: string): void {
  if (erasedAt === null) return;
  throw new Problem('packet.erased', { id, date: erasedAt.toISOString().slice(0, 10) });
}

/** Concurrent reads share one query; each sees everything committed before it began. */
export function packetReader(database: Database, visibility: Visibility): PacketReader {
  const loaderOn = (of: Database) => batchLoader((ids: string[]) => findPackets(of, ids), { max: 200 });
  const findPacket = loaderOn(database);
  const loaders = new Map<Database, typeof findPacket>([[database, findPacket]]);

  function loaderOf(of: Database): typeof findPacket {
    const known = loaders.get(of);
    if (known) return known;
    const made = loaderOn(of);
    loaders.set(of, made);
    return made;
  }

  return async (caller, id, { remains = false, from } = {}) => {
    const uuid = parseUlid(id);
    const find = from === undefined ? findPacket : loaderOf(from.database);
    const packet = uuid && ((await find(uuid)) ?? (find === findPacket ? undefined : await findPacket(uuid)));
    if (!packet) throw new Problem('packet.unknown', { id });
    await visibility.checkReader(caller, { ...packet, id: uuid });
    if (!remains) refuseErased(packet, id);
    return packet;
  };
}
