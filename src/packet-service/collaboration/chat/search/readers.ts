import type { Database } from '../../../../platform/database/database.ts';
import type { MessagePosition, MessageRow } from '../messages/store.ts';
import { lookUpDistributed, readSince, readThreads, sampleNewest } from './distributed-search-store.ts';
import type { ReadingStep } from './plan.ts';
import {
  type Conditions,
  estimateDistributed,
  estimateMessages,
  lookUp,
  readByThread,
  readByTime,
} from './search-store.ts';

/** How many of the first messages are counted to estimate the user's share of all messages. */
const SHARE_SAMPLE = 500;
/** Messages that are sampled for a step by time through distributed messages: at least, and of those to be read. */
const PACE_SAMPLE = 200;
const PACE_PART = 0.02;
/** The oldest time that a message can have, in milliseconds since 1970. */
const OLDEST = Date.parse('0001-01-01T00:00:00Z');
/** An id before every message of the same time. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The result of a step. */
export interface Stretch {
  /** the matches, newest first; if as many as requested, the step ended at the last of them */
  rows: MessageRow[];
  /** where the step ended; undefined if there are no older messages, or as many matches as requested */
  end: MessagePosition | undefined;
  /** approximate number of the user's messages read */
  own: number;
  /** the user's share of all messages, as far as it is known */
  share: number;
}

/** Reads the messages of one search. */
export interface Reader {
  read(step: ReadingStep, before: MessagePosition | undefined, limit: number): Promise<Stretch>;
  lookUp(
    sets: readonly (readonly number[])[],
    page: { before: MessagePosition | undefined; limit: number },
  ): Promise<MessageRow[]>;
  /** approximate number of messages of all threads; undefined before PostgreSQL has analysed the tables */
  estimate(): Promise<number | undefined>;
}

/** Reads the messages of one server. */
export function localReader(database: Database, conditions: Conditions, threads: number): Reader {
  let share: number | undefined;
  return {
    async read({ way, count }, before, limit) {
      if (way === 'by thread') {
        const read = await readByThread(database, conditions, before, { count, limit });
        return { ...read, own: count * threads, share: share ?? 1 };
      }
      const sample = share === undefined ? SHARE_SAMPLE : 0;
      const read = await readByTime(database, conditions, before, { count, limit, sample });
      share ??= read.own / sample;
      return { ...read, own: count * share, share };
    },
    lookUp: (sets, page) => lookUp(database, conditions, sets, page),
    estimate: () => estimateMessages(database),
  };
}

/**
 * Reads messages in shards of several servers. No server can tell where the newest so many of all servers end; a step
 * by time ends at a time, which a sample of the messages before it suggests. If they are denser there than in the
 * sample, the step reads more of them, and finds the same.
 */
export function distributedReader(database: Database, conditions: Conditions, threads: number): Reader {
  let share = 1;
  return {
    async read({ way, count }, before, limit) {
      if (way === 'by thread') {
        const read = await readThreads(database, conditions, before, { count, limit });
        return { ...read, own: count * threads, share };
      }
      const size = Math.max(PACE_SAMPLE, Math.ceil(count * PACE_PART));
      const { times, own } = await sampleNewest(database, conditions, before, size);
      if (times.length > 0) share = own / times.length;
      const since = times.length < size ? undefined : reach(times, count);
      const rows = times.length === 0 ? [] : await readSince(database, conditions, before, { since, limit });
      const end = since === undefined || rows.length === limit ? undefined : { ts: since, id: FIRST_ID };
      return { rows, end, own: count * share, share };
    },
    lookUp: (sets, page) => lookUpDistributed(database, conditions, sets, page),
    estimate: () => estimateDistributed(database),
  };
}

/**
 * The time down to which about `count` messages reach, if they are as dense as the sampled ones; undefined for the
 * oldest.
 */
function reach(times: readonly number[], count: number): string | undefined {
  const [newest, oldest] = [times[0] as number, times.at(-1) as number];
  const since = Math.floor(newest - ((newest - oldest) / times.length) * Math.max(count, times.length));
  return since < OLDEST ? undefined : new Date(since).toISOString();
}
