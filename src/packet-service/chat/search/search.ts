import type { Database } from '../../../platform/postgres/database.ts';
import type { MessageRow, Place } from '../store.ts';
import { geoidNumber, pieceNumber, question } from './pieces.ts';
import { type Conditions, findScope, findWords, lookUp, readByThread, readByTime } from './search-store.ts';

/** Matches fetched at once, at most: what bounds the memory of an unlimited search. */
const BATCH = 2000;
/** With so few threads each is read by itself; with more, all messages in order of time. */
const FEW_THREADS = 16;
/** Messages that the first stretch reads: of a few threads often all there are, of all threads a sample. */
const FIRST_BY_THREAD = 10_000;
const FIRST_BY_TIME = 2000;
/** Of these, as many are counted to learn the user's share of all messages. */
const SHARE_SAMPLE = 500;
/** Messages that one stretch reads, at most. */
const MAX_STRETCH = 100_000;
/** Where less than this share of all messages is the user's, order of time passes too many others. */
const SPARSE = 0.1;
/** Room for chance when it is reckoned how far the matches that are wanted reach. */
const MARGIN = 1.3;
/** The same for the length of a stretch by time: it ends with the last match, and another stretch costs more. */
const ROOM = 3;
/** Sets of pieces that the index is asked for, at most. */
const MAX_SETS = 250;
/**
 * What things cost beside reading one message (0.2 µs): finding the start of one thread, asking the index for one
 * set of pieces, fetching one candidate.
 */
const COST = { thread: 20, set: 70, candidate: 7 };
/** What asking the dictionary and the index costs beyond that. */
const LOOK_UP = 3500;
/** Messages in the table where PostgreSQL has not counted them yet. */
const UNCOUNTED = 1_000_000;

/** What to look for, in the threads that this user takes part in. */
export interface Search extends Omit<Conditions, 'threads'> {
  userId: string;
}

/**
 * Searches messages, newest first, in steps: each yields what is certain to come next. A step reads on in the
 * user's threads, which is quick where matches are frequent, or looks up the rest in the index, which is quick where
 * they are rare; what was read so far tells which it is (docs/decisions/chat-search.md).
 *
 * No connection is held between steps: a reader as slow as can be holds up nobody.
 *
 * @param after the last message of the page before
 * @param wanted matches wanted in all; Infinity for all there are
 */
export async function* searchMessages(
  database: Database,
  search: Search,
  after: Place | undefined,
  wanted: number,
): AsyncGenerator<MessageRow[]> {
  const { threads, count, messages } = await findScope(database, search.userId);
  if (count === 0) return;
  const conditions = { ...search, threads };
  const progress: Progress = {
    own: 0,
    matches: 0,
    share: 1,
    left: wanted,
    threads: count,
    total: messages > 0 ? messages : UNCOUNTED,
    sets: search.keyword === undefined && search.geoid === undefined ? 'useless' : 'unknown',
  };

  let before = after;
  for (let step = firstStep(count); step.way !== 'look up'; ) {
    const read = step.way === 'by time' ? readByTime : readByThread;
    const limit = Math.min(progress.left, BATCH);
    const sample = progress.own === 0 ? SHARE_SAMPLE : 0;
    const stretch = await read(database, conditions, before, { count: step.count, limit, sample });
    yield stretch.rows;
    progress.left -= stretch.rows.length;
    const last = endOf(stretch.rows, limit);
    if (progress.left <= 0 || !(last ?? stretch.end)) return;

    if (step.way === 'by time' && sample > 0) progress.share = stretch.own / sample;
    progress.own += step.way === 'by time' ? step.count * progress.share : step.count * count;
    progress.matches += stretch.rows.length;
    before = last ?? stretch.end;
    const way = step.way;
    step = nextStep(way, progress);
    if (step.way === 'look up' && progress.sets === 'unknown') {
      progress.sets = await setsOf(database, search);
      if (progress.sets.length === 0) return;
      step = nextStep(way, progress);
    }
  }

  while (progress.left > 0) {
    const limit = Math.min(progress.left, BATCH);
    const rows = await lookUp(database, conditions, progress.sets as number[][], { before, limit });
    yield rows;
    progress.left -= rows.length;
    before = endOf(rows, limit);
    if (!before) return;
  }
}

/** The place of a message. */
export function placeOf({ utc, packetId }: MessageRow): Place {
  return { ts: utc, id: packetId };
}

/** Where a batch ended that is as long as it could be; undefined when it is shorter. */
function endOf(rows: MessageRow[], limit: number): Place | undefined {
  return rows.length === limit ? placeOf(rows.at(-1) as MessageRow) : undefined;
}

/**
 * What to ask the index for: sets of pieces, of which every match has all of one. A part of a word stands for all
 * words of the dictionary that have it; with two such parts, for each pair of words.
 *
 * @returns no sets when there can be no match; `useless` when the index would not narrow the search
 */
export async function setsOf(
  database: Database,
  { keyword, geoid }: Search,
): Promise<number[][] | 'useless'> {
  const { whole, parts } = question(keyword ?? '');
  const known = [...whole, ...(geoid === undefined ? [] : [geoidNumber(geoid)])];
  const telling = parts.filter(({ text }) => text.length > 1);
  // Most words have any one letter: it is only asked for where nothing else narrows.
  const asked = telling.length + known.length > 0 ? telling : parts;
  const words = await Promise.all(asked.map(part => findWords(database, part, MAX_SETS + 1)));
  let sets = [known];
  for (const list of words.sort((a, b) => a.length - b.length)) {
    if (sets.length * list.length > MAX_SETS) break;
    sets = sets.flatMap(set => list.map(word => [...set, pieceNumber(word)]));
  }
  return sets[0]?.length === 0 ? 'useless' : sets;
}

/** What a search does next; counts are of messages, in all or of each thread. */
export type Step = { way: 'by time' | 'by thread'; count: number } | { way: 'look up' };

/** What a search knows when it chooses its next step. */
export interface Progress {
  /** the user's messages read so far, about, and the matches among them */
  own: number;
  matches: number;
  /** part of all messages that is the user's */
  share: number;
  /** matches still wanted */
  left: number;
  /** the user's threads */
  threads: number;
  /** messages of all threads, about */
  total: number;
  /** what the index can be asked for */
  sets: readonly (readonly number[])[] | 'unknown' | 'useless';
}

function firstStep(threads: number): Step {
  return threads <= FEW_THREADS
    ? { way: 'by thread', count: Math.ceil(FIRST_BY_THREAD / threads) }
    : { way: 'by time', count: FIRST_BY_TIME };
}

/**
 * Compares what the rest would cost by reading on and by looking it up, if matches and the user's messages stay as
 * frequent as they were so far.
 *
 * @param way how the search has read until now
 */
export function nextStep(way: 'by time' | 'by thread', progress: Progress): Step {
  const { own, matches, share, left, threads, total, sets } = progress;
  const frequency = (matches + 0.5) / (own + 1);
  const byThread = way === 'by thread' || share < SPARSE;
  const messagesFor = (wanted: number, margin: number) =>
    Math.min((margin * wanted) / frequency / (byThread ? 1 : share), total);

  const reading = messagesFor(left, MARGIN) + (byThread ? threads * COST.thread : 0);
  const asking = LOOK_UP + (typeof sets === 'string' ? 1 : sets.length) * COST.set;
  const batches = Math.ceil(Math.min(left, frequency * total) / BATCH);
  if (sets !== 'useless' && batches * (asking + frequency * total * COST.candidate) < reading) {
    return { way: 'look up' };
  }

  const length = messagesFor(Math.min(left, BATCH), byThread ? MARGIN : ROOM);
  const count = Math.min(Math.max(length, FIRST_BY_TIME), MAX_STRETCH);
  return byThread
    ? { way: 'by thread', count: Math.ceil(count / threads) }
    : { way: 'by time', count: Math.ceil(count) };
}
