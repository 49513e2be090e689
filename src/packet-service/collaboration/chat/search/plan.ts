import type { NgramSets } from './ngram-sets.ts';

/** Maximum matches fetched at once: bounds the memory of an unlimited search. */
export const BATCH = 2000;
/** Up to this many threads are read one by one; with more, all messages are read in order of time. */
const FEW_THREADS = 16;
/** Messages that the first step reads: of a few threads often all, of all threads a sample. */
const FIRST_BY_THREAD = 10_000;
const FIRST_BY_TIME = 2000;
/** Maximum messages that one step reads. */
const MAX_STEP = 100_000;
/** If the user's messages are a smaller share than this, reading in order of time passes too many others. */
const SPARSE = 0.1;
/** Allowance for chance when estimating how far the wanted matches reach. */
const MARGIN = 1.3;
/** The allowance for a step by time: it ends with the last match, and another step costs more. */
const ROOM = 3;
/**
 * Costs, in units of reading one message (0.2 µs): finding the start of one thread, asking the index for one set of
 * n-grams, fetching one candidate.
 */
const COST = { thread: 20, set: 70, candidate: 7 };
/** Fixed cost of one look-up in dictionary and index. */
const LOOK_UP = 3500;

/** The next step of a search; `count` is messages, in all or of each thread. */
export type Step = ReadingStep | { way: 'look up' };
export interface ReadingStep {
  way: 'by time' | 'by thread';
  count: number;
}

/** State of a search when it chooses its next step. */
export interface Progress {
  /** approximate number of the user's messages read so far, and the matches among them */
  own: number;
  matches: number;
  /** the user's share of all messages */
  share: number;
  /** matches still wanted */
  left: number;
  /** the user's threads */
  threads: number;
  /** approximate number of messages of all threads */
  total: number;
  /** the index query */
  sets: NgramSets | 'unknown';
}

/** A few threads are read one by one, many in order of time. */
export function firstStep(threads: number): ReadingStep {
  return threads <= FEW_THREADS
    ? { way: 'by thread', count: Math.ceil(FIRST_BY_THREAD / threads) }
    : { way: 'by time', count: FIRST_BY_TIME };
}

/**
 * Compares the cost of reading on with looking up the rest in the index, assuming that matches and the user's
 * messages stay as frequent as they were so far.
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
  const count = Math.min(Math.max(length, FIRST_BY_TIME), MAX_STEP);
  return byThread
    ? { way: 'by thread', count: Math.ceil(count / threads) }
    : { way: 'by time', count: Math.ceil(count) };
}
