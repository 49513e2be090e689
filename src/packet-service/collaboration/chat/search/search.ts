import type { ReadFrom } from '../../../../platform/database/replicas/read-from.ts';
import { userHasTokens } from '../../../core/access/caller.ts';
import type { MessagePosition, MessageRow } from '../messages/store.ts';
import { ngramSets } from './ngram-sets.ts';
import { BATCH, firstStep, nextStep, type Progress, type Step } from './plan.ts';
import { distributedReader, localReader } from './readers.ts';
import { type Conditions, findScope } from './search-store.ts';

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
  const reader = (search.isDistributed ? distributedReader : localReader)(database, conditions, count);
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
  for (let step: Step = firstStep(count); step.way !== 'look up'; ) {
    const limit = Math.min(progress.left, BATCH);
    const { rows, end, own, share } = await reader.read(step, before, limit);
    yield rows;
    progress.left -= rows.length;
    const last = endOf(rows, limit);
    if (progress.left <= 0 || !(last ?? end)) return;

    progress.share = share;
    progress.own += own;
    progress.matches += rows.length;
    before = last ?? end;
    // Most searches end with the first step.
    progress.total ||= (await reader.estimate()) ?? UNCOUNTED;
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
    const rows = await reader.lookUp(progress.sets as number[][], { before, limit });
    yield rows;
    progress.left -= rows.length;
    before = endOf(rows, limit);
    if (!before) return;
  }
}

/** The position of a message. */
export function messagePosition({ utc, packetId }: MessageRow): MessagePosition {
  return { ts: utc, id: packetId };
}

/** The end of a full batch; undefined if it is shorter. */
function endOf(rows: MessageRow[], limit: number): MessagePosition | undefined {
  return rows.length === limit ? messagePosition(rows.at(-1) as MessageRow) : undefined;
}
