import type pg from 'pg';
import type { Database } from '../../../platform/database/database.ts';
import { inSnapshot } from '../../../platform/database/snapshot.ts';
import { listKeys, type MessageKey } from '../../collaboration/chat/messages/verify-store.ts';
import { uuidToUlid } from '../../core/packet-format/ulid.ts';
import { findMessagePositions } from '../../core/packets/verify-store.ts';
import type { Mismatch } from './range.ts';

/** Messages that one statement reads. */
const BATCH = 2000;

/** Finds rows of messages that no packet has: `verifyRange` looks only for the row that a packet must have. */
export async function findStrayMessages(
  pool: pg.Pool,
  onMismatch: (mismatch: Mismatch) => void,
): Promise<void> {
  let last: MessageKey | undefined;
  do {
    const { keys, positions } = await inSnapshot(pool, database => readBatch(database, last));
    for (const { threadId, ts, packetId } of keys) {
      const position = positions.get(packetId);
      if (position?.threadId === threadId && position.ts === ts) continue;
      const fault = 'chat_messages has a row that is not its message';
      onMismatch({ subject: `packet ${uuidToUlid(packetId)}`, fault });
    }
    last = keys.length < BATCH ? undefined : keys.at(-1);
  } while (last);
}

async function readBatch(database: Database, after: MessageKey | undefined) {
  const keys = await listKeys(database, after, BATCH);
  const positions = await findMessagePositions(
    database,
    keys.map(({ packetId }) => packetId),
  );
  return { keys, positions: new Map(positions.map(position => [position.id, position])) };
}
