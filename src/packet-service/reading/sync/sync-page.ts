import type { Database } from '../../../platform/database/database.ts';
import type { ReadFrom } from '../../../platform/database/replicas/read-from.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { findThreadIds } from '../../collaboration/chat/threads/store.ts';
import type { Caller } from '../../core/access/caller.ts';
import type { Visibility } from '../../core/access/visibility.ts';
import { checkLogCursor, type LogCursor, logCursorText } from '../../core/log/log-cursor.ts';
import {
  type Entry,
  type LogRange,
  readCursors,
  readEntriesOfUser,
  readErasedOfGeoid,
  readPackets,
  readPacketsById,
  scanPacketsOfGeoid,
} from '../../core/log/read-store.ts';
import { geoidKey } from '../../core/log/store.ts';
import { spliceRest, spliceSections } from '../../core/packet-format/packet.ts';
import { findIdsOfGeoid } from '../../core/packets/geoid-store.ts';
import { type PageText, pageText } from '../../core/packets/page-body.ts';
import { largestOf } from '../../core/packets/parts.ts';
import { findSmallPackets, type Sections, type SmallPacket } from '../../core/packets/read-store.ts';

/** Entries that one request reads if some of them may be hidden from the client. */
const LOOKED_AT = 2000;
/** Up to this many packets of a GeoID are read by their ids; with more, the log is scanned. */
const FEW_PACKETS = 2000;
/** Positions that one request scans for a GeoID. */
const SEARCHED = 100_000;

/** A request for a part of the log. */
export interface SyncRequest {
  /** the client's last cursor */
  since: LogCursor;
  limit: number;
  geoid?: string | undefined;
  /** only entries for this user: messages of their threads, and packets shared with them */
  userId?: string | undefined;
  /** the caller, who gets no messages of other users' threads */
  reader: Caller;
}

/** A packet with its log entry. */
export interface SyncItem {
  entry: Entry;
  packet: SmallPacket;
}

export interface SyncPage {
  items: SyncItem[];
  /** up to where the log was read: `since` of the next request */
  since: LogCursor;
  /** whether the log continues from there */
  more: boolean;
}

/**
 * The next packets of the log, in its order. A page may be empty and still advance, if all entries it read were
 * filtered out or hidden.
 *
 * @param from the log and the packets may be read on a replica; who may read what always on the primary
 * @throws Problem conflict when `since` is of another log, also when it is beyond the end of this one
 */
export async function readSyncPage(
  from: Pick<ReadFrom, 'database' | 'primary'>,
  visibility: Visibility,
  request: SyncRequest,
): Promise<SyncPage> {
  const { database } = from;
  const { since, limit, reader } = request;
  const { cursors, head } = await readCursors(database, [since.position]);
  checkLogCursor('since', since, cursors[0]);
  if (since.position === head.position) return { items: [], since, more: false };

  // Threads are queried after the end of the log, so that the threads of all messages up to there are included.
  const threads = await visibility.readableThreads(reader);
  const readable = Array.isArray(threads) ? new Set(threads) : undefined;
  const maySee = (threadId: string | null) => !readable || threadId === null || readable.has(threadId);

  const lookAt = readable || request.userId !== undefined ? Math.max(LOOKED_AT, limit) : limit;
  const { entries, upTo } = await candidates(
    from,
    request,
    { after: since.position, upTo: head.position },
    lookAt,
  );
  const wanted = entries.filter(
    ({ kind, threadId, closed }) =>
      kind !== 'invitation.sent' && maySee(threadId) && !(reader.anonymous && closed),
  );
  const taken = wanted.slice(0, limit);
  const packets = await findSmallPackets(
    database,
    taken.map(({ packetId }) => packetId as string),
    largestOf(Math.max(1, taken.length)),
  );
  const items = taken.flatMap((entry, at) => {
    const packet = packets[at];
    if (!packet || (reader.anonymous && packet.closed)) return [];
    // A message may have been shared with somebody outside its thread.
    if (!maySee(packet.threadId)) return [];
    // An erased packet only appears as its erasure.
    return (packet.erasedAt !== null) === (entry.kind === 'erased') ? [{ entry, packet }] : [];
  });
  const last = (wanted.length > limit ? taken : entries).at(-1);
  const partly = wanted.length > limit || entries.length === lookAt;
  const lookedAt =
    partly && last ? { position: last.position, tag: last.tag } : await cursorAt(database, upTo, head);
  return { items, since: lookedAt, more: lookedAt.position < head.position };
}

async function cursorAt(database: Database, position: number, head: LogCursor): Promise<LogCursor> {
  if (position === head.position) return head;
  const { cursors } = await readCursors(database, [position]);
  // Positions have no gaps: one below the end is missing only if the log has been replaced by another one.
  if (!cursors[0]) throw new Problem('log.just_replaced', {}, { retryAfter: 2 });
  return cursors[0];
}

/** The first entries after `since` that may match, and the position up to which they are complete. */
async function candidates(
  { database, primary }: Pick<ReadFrom, 'database' | 'primary'>,
  { geoid, userId, reader }: SyncRequest,
  stretch: LogRange,
  limit: number,
): Promise<{ entries: Entry[]; upTo: number }> {
  const { upTo } = stretch;
  if (userId !== undefined) {
    const threadIds = await findThreadIds(primary, userId, { openOnly: reader.anonymous });
    return { entries: await readEntriesOfUser(database, { userId, threadIds }, stretch, limit), upTo };
  }
  if (geoid === undefined) return { entries: await readPackets(database, stretch, limit), upTo };

  const ids = await findIdsOfGeoid(database, geoid, FEW_PACKETS + 1);
  if (ids.length <= FEW_PACKETS) {
    const [packets, erased] = await Promise.all([
      readPacketsById(database, ids, stretch, limit),
      readErasedOfGeoid(database, geoidKey(geoid), stretch, limit),
    ]);
    return { entries: merged(packets, erased).slice(0, limit), upTo };
  }
  const part = { after: stretch.after, upTo: Math.min(upTo, stretch.after + SEARCHED) };
  return { entries: await scanPacketsOfGeoid(database, geoidKey(geoid), part, limit), upTo: part.upTo };
}

/** Entries of two lists in the order of the log, each once. */
function merged(some: readonly Entry[], others: readonly Entry[]): Entry[] {
  if (others.length === 0) return [...some];
  const byPosition = new Map([...some, ...others].map(entry => [entry.position, entry]));
  return [...byPosition.values()].sort((a, b) => a.position - b.position);
}

/** The body of a page, with the packets' stored texts. */
export function pageAsJson(database: Database, { items, since, more }: SyncPage): PageText {
  const rows = items.map(({ entry, packet }) => ({ ...packet, entry }));
  const item = (sections: Sections, { entry: { position, kind } }: { entry: Entry }) => {
    // A packet erased while the page was being sent looks like any other erased one.
    const packet =
      sections.body === null || kind === 'erased' ? spliceRest(sections) : spliceSections(sections);
    return `{"position":${position},"kind":"${kind}","packet":${packet}}`;
  };
  return pageText(
    database,
    rows,
    item,
    '{"packets":[',
    `],"count":${items.length},"since":"${logCursorText(since)}","more":${more}}`,
  );
}
