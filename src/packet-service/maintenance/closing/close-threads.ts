import {
  type Connection,
  type Database,
  openPool,
  transaction,
} from '../../../platform/database/database.ts';
import { findAppliedAt } from '../../../platform/database/migrate.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { findReadable } from '../../collaboration/chat/messages/visible-store.ts';
import { closeThread, findClosable } from '../../collaboration/chat/threads/closing-store.ts';
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

/** The time at which a database started with 1.0: its upgrade from 0.1.0, or its creation. */
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
 * closed. Services that run keep in memory which threads are open until they are restarted, and store messages as open
 * meanwhile: repeated, it closes these.
 *
 * @param connection of the role that owns the tables
 * @returns in how many threads something was closed
 * @throws Problem forbidden for another role
 */
export async function closeThreads(connection: Connection, before: Date): Promise<number> {
  await appendAll(connection, findReadable);
  const pool = openPool(connection, SCHEMA, 1, { deadline: { ms: STATEMENT_MS, of: 'statement' } });
  try {
    let closed = 0;
    for (let after: string | undefined; ; ) {
      const page: Page = { after, limit: THREADS };
      const done = await transaction(pool, database => closeSome(database, before, page));
      closed += done.closed;
      if (done.last === undefined) return closed;
      after = done.last;
    }
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    throw new Problem('closing.not_owner', {}, { cause: error });
  } finally {
    await pool.end();
  }
}

interface Page {
  after: string | undefined;
  limit: number;
}

/** @returns in how many threads something was closed, and the last thread of a full page */
async function closeSome(
  database: Database,
  before: Date,
  page: Page,
): Promise<{ closed: number; last: string | undefined }> {
  await takeClosingRight(database);
  const threads = await findClosable(database, before, page);
  let closed = 0;
  for (const { id, isOpen } of threads) {
    if (isOpen) await closeThread(database, id);
    const messages = await closeMessages(database, id);
    if (isOpen || messages > 0) closed++;
  }
  await returnClosingRight(database);
  return { closed, last: threads.length < page.limit ? undefined : threads.at(-1)?.id };
}

/** @returns how many messages of the thread were open */
async function closeMessages(database: Database, threadId: string): Promise<number> {
  let closed = 0;
  for (let after = 0; ; ) {
    const messages = await findMessagesAfter(database, threadId, { after, limit: MESSAGES });
    closed += await closePackets(
      database,
      messages.map(({ packetId }) => packetId),
    );
    if (messages.length < MESSAGES) return closed;
    after = messages.at(-1)?.position as number;
  }
}
