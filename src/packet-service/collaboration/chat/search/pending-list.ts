import type { FastifyBaseLogger } from 'fastify';
import type { Database } from '../../../../platform/database/database.ts';
import { mergePending } from './search-store.ts';

/** Time from the first message that was not merged to its merge, in milliseconds. */
const MERGE_MS = 2500;

/**
 * Merges the pending list of the messages' GIN index soon after it was written, on a separate connection. Otherwise
 * the server merges it in the transaction that finds the list full, and that batch waits 60 ms
 * (docs/decisions/chat-search.md).
 */
export interface PendingList {
  /** Call this after storing a message. Returns at once. */
  grew(): void;
  stop(): Promise<void>;
}

export function pendingList(pool: Database, logger: FastifyBaseLogger): PendingList {
  let timer: NodeJS.Timeout | undefined;
  let merging: Promise<void> | undefined;
  let stopped = false;

  async function merge(): Promise<void> {
    // What is stored from here on may be too late for this merge and schedules another.
    timer = undefined;
    try {
      await mergePending(pool);
    } catch (error) {
      logger.warn({ err: error }, 'could not merge the index of messages; the server will do it later');
    }
  }

  return {
    grew() {
      if (timer || stopped) return;
      timer = setTimeout(() => {
        merging = merge();
      }, MERGE_MS);
    },
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await merging;
    },
  };
}
