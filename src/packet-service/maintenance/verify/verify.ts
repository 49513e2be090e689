import { availableParallelism } from 'node:os';
import type pg from 'pg';
import { type Connection, openPool } from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { SCHEMA } from '../../core/contract/database-schema.ts';
import { findHead } from '../../core/log/verify-store.ts';
import { FIRST_ID, type IdRange, skipPackets } from '../../core/packets/verify-store.ts';
import { verifyFiles } from './files.ts';
import { verifyPositions } from './log.ts';
import { findStrayMessages } from './messages.ts';
import type { ErasedPacket, Mismatch, RangeResult } from './range.ts';
import { RANGES_AT_ONCE, type RangeThread, STATEMENT_DEADLINE, startRangeThread } from './range-thread.ts';

export type { ErasedPacket, Mismatch } from './range.ts';

/** Packets of a range: some hundred kilobytes as a rule, 8 MB at most. */
const RANGE = 500;
/** Maximum threads; more would wait for the server. */
const MAX_THREADS = 4;

/** Counts of what was verified. */
export interface VerifiedCounts {
  /** all, those that were erased among them */
  packets: number;
  erased: number;
  /** of chat */
  messages: number;
  /** rows of attachments */
  attachments: number;
  /** contents of attachments, each once */
  files: number;
  /** of the files */
  bytes: number;
  /** last position of the log */
  entries: number;
  mismatches: number;
}

export interface Verifying {
  connection: Connection;
  /** where the attachments are */
  files: FileStore;
  /** threads that hash packets; as many as the machine has processors where it is not given */
  threads?: number;
  /** called for each as it is found */
  onMismatch?: (mismatch: Mismatch) => void;
  /** called for each packet that was erased: of those only what is left is verified */
  onErased?: (erased: ErasedPacket) => void;
  /** called often, with what was verified so far; the log has about as many entries as there are packets */
  onProgress?: (counts: Readonly<VerifiedCounts>) => void;
}

/**
 * Verifies everything that the packet service keeps: of every packet its hash and all that is stored beside it, of every
 * attachment the file, and of the log that it has every packet once and no gaps. What the program cannot tell, or does
 * not keep forever, is not looked at.
 *
 * A service may go on beside it: each packet is looked at as it is at one moment. What is stored after the beginning may
 * be looked at or not. Nothing is written. Takes as much memory for a large database as for a small one.
 *
 * @throws what keeps a database from being read; a file that cannot be read is a mismatch
 */
export async function verifyDatabase(verifying: Verifying): Promise<VerifiedCounts> {
  const { connection, files, onMismatch, onErased, onProgress } = verifying;
  const pool = openPool(connection, SCHEMA, 4, { deadline: STATEMENT_DEADLINE });
  const counts: VerifiedCounts = {
    packets: 0,
    erased: 0,
    messages: 0,
    attachments: 0,
    files: 0,
    bytes: 0,
    entries: 0,
    mismatches: 0,
  };
  const report = (mismatch: Mismatch) => {
    counts.mismatches += 1;
    onMismatch?.(mismatch);
  };
  let parts: Promise<void>[] = [];
  try {
    counts.entries = await findHead(pool);
    parts = [
      verifyPackets(verifying, pool, ({ packets, erased, messages, mismatches }) => {
        counts.packets += packets;
        counts.erased += erased.length;
        counts.messages += messages;
        for (const packet of erased) onErased?.(packet);
        mismatches.forEach(report);
        onProgress?.(counts);
      }),
      findStrayMessages(pool, report),
      verifyPositions(pool, counts.entries, report),
      verifyFiles(pool, files, ({ attachments, bytes, mismatches }) => {
        counts.attachments += attachments;
        counts.files += 1;
        counts.bytes += bytes;
        mismatches.forEach(report);
        onProgress?.(counts);
      }),
    ];
    await Promise.all(parts);
  } finally {
    // If one part failed, the others have lost their connections.
    await pool.end();
    await Promise.allSettled(parts);
  }
  return counts;
}

/** Has threads verify all packets, a range at a time. */
async function verifyPackets(
  { connection, threads = Math.min(availableParallelism(), MAX_THREADS) }: Verifying,
  pool: pg.Pool,
  onResult: (result: RangeResult) => void,
): Promise<void> {
  const next = ranges(pool);
  const work = async (thread: RangeThread) => {
    for await (const range of next) onResult(await thread.verify(range));
  };
  const started = Array.from({ length: threads }, () => startRangeThread(connection));
  try {
    await Promise.all(started.flatMap(thread => Array.from({ length: RANGES_AT_ONCE }, () => work(thread))));
  } finally {
    await Promise.all(started.map(thread => thread.end()));
  }
}

/** Ranges that have every id, also those that no packet has: something may name them. */
async function* ranges(pool: pg.Pool): AsyncGenerator<IdRange> {
  let from = FIRST_ID;
  for (;;) {
    const to = await skipPackets(pool, from, RANGE);
    yield { from, to };
    if (to === undefined) return;
    from = to;
  }
}
