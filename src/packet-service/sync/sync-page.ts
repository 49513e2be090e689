import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import type { Caller } from '../access/caller.ts';
import type { Visibility } from '../access/visibility.ts';
import { findThreadIds } from '../chat/threads/store.ts';
import { checkLogCursor, type LogCursor, logCursorText } from '../log/log-cursor.ts';
import {
  type Entry,
  type LogRange,
  readCursors,
  readEntriesOfUser,
  readErasedOfGeoid,
  readPackets,
  readPacketsById,
  scanPacketsOfGeoid,
} from '../log/read-store.ts';
import { geoidKey } from '../log/store.ts';
import { spliceRest, spliceSections } from '../packet/packet.ts';
import { findIdsOfGeoid } from '../packets/geoid-store.ts';
import { type PageText, pageText } from '../packets/page-body.ts';
import { largestOf } from '../packets/parts.ts';
import { findSmallPackets, type Large, type Sections, type StoredPacket } from '../packets/read-store.ts';

/** Entries that one request looks at when some of them may be held back. */
const LOOKED_AT = 2000;
/** A GeoID with so many packets or fewer is read by their ids; beyond, the log is searched. */
const FEW_PACKETS = 2000;
/** Positions that one request searches for a GeoID. */
const SEARCHED = 100_000;

/** What a client wants to have of the log. */
export interface SyncRequest {
  /** the last place that the client knows */
  since: LogCursor;
  limit: number;
  geoid?: string | undefined;
  /** what is for this user: messages of the threads, and packets that were shared with the user */
  userId?: string | undefined;
  /** from whom the messages of threads are held back that are not theirs */
  reader: Caller;
}

/** A packet at its place in the log. */
export interface SyncItem {
  entry: Entry;
  packet: StoredPacket & Large;
}

export interface SyncPage {
  items: SyncItem[];
  /** up to where the log was looked at: `since` of the next request */
  since: LogCursor;
  /** whether the log goes on from there */
  more: boolean;
}

/**
 * The next packets of the log, in its order. A page may be empty and yet move on, when what it looked at was not
 * wanted or was held back.
 *
 * @throws Problem conflict when `since` is of another log, also when it is beyond the end of this one
 */
export async function readSyncPage(
  pool: pg.Pool,
  visibility: Visibility,
  request: SyncRequest,
): Promise<SyncPage> {
  const { since, limit, reader } = request;
  const { places, head } = await readCursors(pool, [since.position]);
  checkLogCursor('since', since, places[0]);
  if (since.position === head.position) return { items: [], since, more: false };

  // Threads are asked for after the end of the log, so that no message up to there is of a thread not seen yet.
  const threads = await visibility.readableThreads(reader);
  const readable = Array.isArray(threads) ? new Set(threads) : undefined;
  const maySee = (threadId: string | null) => !readable || threadId === null || readable.has(threadId);

  const lookAt = readable || request.userId !== undefined ? Math.max(LOOKED_AT, limit) : limit;
  const { entries, upTo } = await candidates(
    pool,
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
    pool,
    taken.map(({ packetId }) => packetId as string),
    largestOf(Math.max(1, taken.length)),
  );
  const items = taken.flatMap((entry, at) => {
    const packet = packets[at];
    if (!packet || (reader.anonymous && packet.closed)) return [];
    // A message may have been shared with somebody outside its thread.
    if (!maySee(packet.threadId)) return [];
    // Of what was erased only that is told.
    return (packet.erasedAt !== null) === (entry.kind === 'erased') ? [{ entry, packet }] : [];
  });
  const last = (wanted.length > limit ? taken : entries).at(-1);
  const partly = wanted.length > limit || entries.length === lookAt;
  const lookedAt =
    partly && last ? { position: last.position, tag: last.tag } : await placeAt(pool, upTo, head);
  return { items, since: lookedAt, more: lookedAt.position < head.position };
}

async function placeAt(pool: pg.Pool, position: number, head: LogCursor): Promise<LogCursor> {
  if (position === head.position) return head;
  const { places } = await readCursors(pool, [position]);
  // Positions have no gaps: one below the end is missing only where another log has taken the place of this one.
  if (!places[0]) throw new Problem('unavailable', 'the log has just been replaced', { retryAfter: 2 });
  return places[0];
}

/** The first entries after `since` that may be wanted, and up to where all of them were found. */
async function candidates(
  pool: pg.Pool,
  { geoid, userId, reader }: SyncRequest,
  stretch: LogRange,
  limit: number,
): Promise<{ entries: Entry[]; upTo: number }> {
  const { upTo } = stretch;
  if (userId !== undefined) {
    const threadIds = await findThreadIds(pool, userId, { openOnly: reader.anonymous });
    return { entries: await readEntriesOfUser(pool, { userId, threadIds }, stretch, limit), upTo };
  }
  if (geoid === undefined) return { entries: await readPackets(pool, stretch, limit), upTo };

  const ids = await findIdsOfGeoid(pool, geoid, FEW_PACKETS + 1);
  if (ids.length <= FEW_PACKETS) {
    const [found, erased] = await Promise.all([
      readPacketsById(pool, ids, stretch, limit),
      readErasedOfGeoid(pool, geoidKey(geoid), stretch, limit),
    ]);
    return { entries: merged(found, erased).slice(0, limit), upTo };
  }
  const part = { after: stretch.after, upTo: Math.min(upTo, stretch.after + SEARCHED) };
  return { entries: await scanPacketsOfGeoid(pool, geoidKey(geoid), part, limit), upTo: part.upTo };
}

/** Entries of two lists in the order of the log, each once. */
function merged(some: readonly Entry[], others: readonly Entry[]): Entry[] {
  if (others.length === 0) return [...some];
  const byPosition = new Map([...some, ...others].map(entry => [entry.position, entry]));
  return [...byPosition.values()].sort((a, b) => a.position - b.position);
}

/** A page as it is answered; the packets' stored texts are spliced in. */
export function pageAsJson(pool: pg.Pool, { items, since, more }: SyncPage): PageText {
  const rows = items.map(({ entry, packet }) => ({ ...packet, entry }));
  const item = (sections: Sections, { entry: { position, kind } }: { entry: Entry }) => {
    // What was erased while the page was on its way is told like any other that was.
    const packet =
      sections.body === null || kind === 'erased' ? spliceRest(sections) : spliceSections(sections);
    return `{"position":${position},"kind":"${kind}","packet":${packet}}`;
  };
  return pageText(
    pool,
    rows,
    item,
    '{"packets":[',
    `],"count":${items.length},"since":"${logCursorText(since)}","more":${more}}`,
  );
}
