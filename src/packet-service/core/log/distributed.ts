import { isDistributed } from '../../../platform/database/citus/is-distributed.ts';
import type { Database } from '../../../platform/database/database.ts';
import { appendQueued, type Round } from './store.ts';
import { type PacketEvent, readWaiting } from './waiting-store.ts';

/** Which packets of some events can be read, by their ids, and whether they are erased; a message also in its thread. */
export type FindVisible = (
  database: Database,
  events: readonly PacketEvent[],
) => Promise<ReadonlyMap<string, { erased: boolean }>>;

/** One round of appending, from a horizon on. */
export type Append = (connection: Database, horizon: string) => Promise<Round>;

/**
 * How a connection appends to the log. On one server a packet can be read as soon as its event is in the outbox. On
 * several, a commit is complete on the coordinator, which has the outbox, before it is on the servers with the packets:
 * by milliseconds, or by seconds if a server failed meanwhile. There a round only takes events whose packets can be
 * read, so that a reader of the log never misses one.
 */
export async function appendFor(connection: Database, findVisible: FindVisible): Promise<Append> {
  if (!(await isDistributed(connection, 'packets'))) return (same, horizon) => appendQueued(same, horizon);
  return (same, horizon) => appendVisible(same, horizon, findVisible);
}

/** A round that takes only events whose packets can be read. */
export async function appendVisible(
  connection: Database,
  horizon: string,
  findVisible: FindVisible,
): Promise<Round> {
  const look = await readWaiting(connection, horizon);
  const visible = look.events.length > 0 ? await findVisible(connection, look.events) : new Map();
  const hidden = look.events.find(({ packetId, erased }) => {
    const packet = visible.get(packetId);
    return !packet || (erased && !packet.erased);
  });
  // Those that follow wait as well, so that the log keeps the order of transactions.
  const end = hidden ? look.xids.indexOf(hidden.xid) : look.xids.length;
  const round = await appendQueued(connection, horizon, new Date(), look.xids.slice(0, end));
  const isComplete = !hidden && !look.more;
  return {
    ...round,
    more: !hidden && look.more,
    waits: hidden !== undefined,
    horizon: isComplete ? look.horizon : horizon,
  };
}
