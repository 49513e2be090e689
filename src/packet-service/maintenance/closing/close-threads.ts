import {
  type Connection,
  type Database,
  openPool,
  transaction,
} from '../../../platform/database/database.ts';
import { findAppliedAt } from '../../../platform/database/migrate.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { findReadable } from '../../collaboration/chat/messages/visible-store.ts';
import { closeThread, findOpenThreads } from '../../collaboration/chat/threads/closing-store.ts';
import { SCHEMA } from '../../core/contract/database-schema.ts';
import { appendAll } from '../../core/log/append-all.ts';
import { findMessagesAfter } from '../../core/log/thread-store.ts';
import { closePackets, returnClosingRight, takeClosingRight } from '../../core/packets/close-store.ts';

/** Number of the first migration of 1.0. */
const BASELINE = 100;
/** Threads that one transaction closes. */
const THREADS = 100;
/** Messages that one statement closes. */
const MESSAGES = 5000;
/** Longest that one statement takes, in milliseconds. */
const STATEMENT_MS = 3600 * 1000;

/** When a database began with 1.0: its upgrade from 0.1.0, or when it was made. */
export async function findBeginOf1(connection: Connection): Promise<Date> {
  const pool = openPool(connection, SCHEMA, 1);
  try {
    const at = await findAppliedAt(pool, BASELINE);
    if (!at) throw new Problem('command.no_tables_of_1');
    return at;
  } finally {
    await pool.end();
  }
}

/**
 * Closes the open threads that were begun before a time, with their messages, to requests without a token
 * (AUTH_MODE=optional). Rows of old versions do not say whether a thread was made with a token, so all of them are
 * closed. Can be repeated. Services that run keep in memory which threads are open until they are restarted.
 *
 * @param connection of the role that owns the tables
 * @returns how many threads were closed
 * @throws Problem forbidden for another role
 */
export async function closeThreads(connection: Connection, before: Date): Promise<number> {
  await appendAll(connection, findReadable);
  const pool = openPool(connection, SCHEMA, 1, { deadline: { ms: STATEMENT_MS, of: 'statement' } });
  try {
    for (let closed = 0; ; ) {
      const count = await transaction(pool, database => closeSome(database, before));
      closed += count;
      if (count < THREADS) return closed;
    }
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    throw new Problem('closing.not_owner', {}, { cause: error });
  } finally {
    await pool.end();
  }
}

async function closeSome(database: Database, before: Date): Promise<number> {
  await takeClosingRight(database);
  const threads = await findOpenThreads(database, before, THREADS);
  for (const threadId of threads) {
    await closeThread(database, threadId);
    for (let after = 0; ; ) {
      const messages = await findMessagesAfter(database, threadId, { after, limit: MESSAGES });
      await closePackets(
        database,
        messages.map(({ packetId }) => packetId),
      );
      if (messages.length < MESSAGES) break;
      after = messages.at(-1)?.position as number;
    }
  }
  await returnClosingRight(database);
  return threads.length;
}
