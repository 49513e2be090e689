import type { Database } from '../../../platform/postgres/database.ts';
import type { ReadFrom } from '../../../platform/postgres/replicas/read-from.ts';
import { userHasTokens } from '../../access/caller.ts';
import type { MessagePosition, MessageRow } from '../messages/store.ts';
import { lookUpDistributed, readNewest } from './distributed-search-store.ts';
import { ngramSets } from './ngram-sets.ts';
import { BATCH, firstDistributedStep, firstStep, nextStep, type Progress, type Step } from './plan.ts';
import {
  type Conditions,
  estimateDistributed,
  estimateMessages,
  findScope,
  lookUp,
  type MessageScan,
  readByThread,
  readByTime,
} from './search-store.ts';

/** How many of the first messages are counted to estimate the user's share of all messages. */
const SHARE_SAMPLE = 500;
/** Assumed size of the table before PostgreSQL has analysed it, in messages. */
const UNCOUNTED = 1_000_000;

/** The search, in the threads that this user takes part in. */
export interface Search extends Omit<Conditions, 'threads'> {
  userId: string;
  /** only in threads that were created without a token */
  openOnly: boolean;
  /** whether the messages are in shards of several servers */
  isDistributed?: boolean;
}

/**
 * Searches messages, newest first, in steps, each of which yields the matches certain to come next. A step reads on
 * in the user's threads, which is fast if matches are frequent, or looks up the rest in the index, which is fast if
 * they are rare; the results so far decide (docs/decisions/chat-search.md).
 *
 * No connection is held between steps: a slow reader blocks nobody.
 *
 * @param from the user's threads are always read on the primary: somebody who has left one finds nothing in it
 * @param after the last message of the previous page
 * @param wanted number of matches; Infinity for all
 * @throws Problem forbidden when a request without a token names a user who has tokens
 */
export async function* searchMessages(
  { database, primary }: Pick<ReadFrom, 'database' | 'primary'>,
  search: Search,
  after: MessagePosition | undefined,
  wanted: number,
): AsyncGenerator<MessageRow[]> {
  const { threads, count, isTokenUser } = await findScope(primary, search);
  if (isTokenUser) throw userHasTokens('user_id');
  if (count === 0) return;
  const conditions = { ...search, threads };
  const progress: Progress = {
    own: 0,
    matches: 0,
    share: 1,
    left: wanted,
    threads: count,
    total: 0,
    sets: search.keyword === undefined && search.geoid === undefined ? 'useless' : 'unknown',
  };

  let before = after;
  const first = search.isDistributed ? firstDistributedStep : firstStep;
  for (let step: Step = first(count); step.way !== 'look up'; ) {
    const limit = Math.min(progress.left, BATCH);
    const sample = progress.own === 0 ? SHARE_SAMPLE : 0;
    const stretch = await readStep(database, conditions, before, { step, limit, sample, threads: count });
    yield stretch.rows;
    progress.left -= stretch.rows.length;
    const last = endOf(stretch.rows, limit);
    if (progress.left <= 0 || !(last ?? stretch.end)) return;

    if (step.way === 'by time' && sample > 0) progress.share = stretch.own / sample;
    progress.own += step.way === 'by time' ? step.count * progress.share : stretch.read;
    progress.matches += stretch.rows.length;
    before = last ?? stretch.end;
    // Most searches end with the first step.
    const estimate = search.isDistributed ? estimateDistributed : estimateMessages;
    progress.total ||= (await estimate(database)) ?? UNCOUNTED;
    const way = step.way;
    step = nextStep(way, progress);
    if (step.way === 'look up' && progress.sets === 'unknown') {
      progress.sets = await ngramSets(database, search);
      if (progress.sets.length === 0) return;
      step = nextStep(way, progress);
    }
  }

  while (progress.left > 0) {
    const limit = Math.min(progress.left, BATCH);
    const look = search.isDistributed ? lookUpDistributed : lookUp;
    const rows = await look(database, conditions, progress.sets as number[][], { before, limit });
    yield rows;
    progress.left -= rows.length;
    before = endOf(rows, limit);
    if (!before) return;
  }
}

/** Reads on; `read` is the approximate number of the user's messages, for a step by thread. */
async function readStep(
  database: Database,
  conditions: Conditions & Pick<Search, 'isDistributed'>,
  before: MessagePosition | undefined,
  ask: { step: Exclude<Step, { way: 'look up' }>; limit: number; sample: number; threads: number },
): Promise<MessageScan & { read: number }> {
  const { step, limit, sample, threads } = ask;
  const read = step.count * threads;
  if (conditions.isDistributed) return readNewest(database, conditions, before, { count: read, limit });
  const found = await (step.way === 'by time'
    ? readByTime(database, conditions, before, { count: step.count, limit, sample })
    : readByThread(database, conditions, before, { count: step.count, limit }));
  return { ...found, read };
}

/** The position of a message. */
export function messagePosition({ utc, packetId }: MessageRow): MessagePosition {
  return { ts: utc, id: packetId };
}

/** The end of a full batch; undefined if it is shorter. */
function endOf(rows: MessageRow[], limit: number): MessagePosition | undefined {
  return rows.length === limit ? messagePosition(rows.at(-1) as MessageRow) : undefined;
}
