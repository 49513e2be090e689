import { setTimeout as wait } from 'node:timers/promises';
import {
  type Connection,
  type Database,
  openPool,
  transaction,
} from '../../../platform/database/database.ts';
import type { FileStore } from '../../../platform/files/index.ts';
import { Problem } from '../../../platform/http/problems.ts';
import { takeMessage } from '../../collaboration/chat/messages/store.ts';
import { findReadable } from '../../collaboration/chat/messages/visible-store.ts';
import { removeUnusedWords, restoreWords } from '../../collaboration/chat/search/erase-words.ts';
import { findRecipients } from '../../collaboration/sharing/shares/store.ts';
import { SCHEMA } from '../../core/contract/database-schema.ts';
import { eraseAnswers } from '../../core/idempotency/store.ts';
import { appendAll } from '../../core/log/append-all.ts';
import { CLOSED } from '../../core/log/read-store.ts';
import { eraseDetails, type LogEvent, queueErasure, queueEvents } from '../../core/log/store.ts';
import { hashOf } from '../../core/packet-format/packet.ts';
import { isUlid, ulidToUuid } from '../../core/packet-format/ulid.ts';
import { type ErasablePacket, eraseSections, findErasable } from '../../core/packets/erase-store.ts';
import { type ErasedFiles, eraseFiles, removeErased } from '../../intake/attachments/erase.ts';
import { uncountObservation } from '../../reading/tiles/counts.ts';
import { insertErasure, returnRights, takeRights, vacuum } from './store.ts';

/** Longest that one statement takes, in milliseconds: VACUUM reads whole indexes. */
const STATEMENT_MS = 6 * 3600 * 1000;
/** Milliseconds that running processes have to clear the words of a message from their caches. */
const PATIENCE_MS = 5000;
const MAX_REASON = 1000;

/** Dependencies of an erasure. */
export interface Erasing {
  connection: Connection;
  files: FileStore;
  patienceMs?: number;
}

/** The result of an erasure. */
export interface Erased {
  /** when the packet was erased */
  at: Date;
  /** whether it had been erased before */
  again: boolean;
  /** removed words of the search dictionary */
  words: number;
  /** removed files */
  files: number;
}

/**
 * Erases a packet permanently (docs/decisions/erasure.md): its Body, and all data derived from it. Header, hash and
 * position in the log remain. Runs next to the service, with the rights of the tables' owner.
 *
 * @param id ULID, as the operator wrote it
 * @param reason stored with it, visible only to operators
 * @throws Problem not_found; invalid without a reason; forbidden for a database user who does not own the tables
 */
export async function erasePacket(erasing: Erasing, id: string, reason: string): Promise<Erased> {
  const trimmed = reason.trim();
  if (trimmed === '' || trimmed.length > MAX_REASON) {
    throw new Problem('erasure.wrong_reason_length', { max: MAX_REASON });
  }
  const ulid = id.toUpperCase();
  if (!isUlid(ulid)) throw new Problem('packet.unknown', { id });
  const pool = openPool(erasing.connection, SCHEMA, 2, { deadline: { ms: STATEMENT_MS, of: 'statement' } });
  try {
    await appendAll(erasing.connection, findReadable);
    const done = await transaction(pool, database => erase(database, ulid, trimmed));
    if (done.again) return { at: done.at, again: true, words: 0, files: 0 };
    await removeErased(pool, erasing.files, done);
    if (done.words.length > 0) {
      await wait(erasing.patienceMs ?? PATIENCE_MS);
      await restoreWords(pool, done.words);
    }
    await vacuum(pool);
    return { at: done.at, again: false, words: done.words.length, files: done.attachments.length };
  } catch (error) {
    if ((error as { code?: string }).code !== '42501') throw error;
    throw new Problem('erasure.not_owner', {}, { cause: error });
  } finally {
    await pool.end();
  }
}

interface Done extends ErasedFiles {
  at: Date;
  again: boolean;
  words: string[];
}

async function erase(database: Database, ulid: string, reason: string): Promise<Done> {
  const packetId = ulidToUuid(ulid);
  await takeRights(database);
  const packet = await findErasable(database, packetId);
  if (!packet) throw new Problem('packet.unknown', { id: ulid });
  const nothing = { words: [], attachments: [], contents: [], uploads: [] };
  if (packet.erasedAt) {
    await returnRights(database);
    return { at: packet.erasedAt, again: true, ...nothing };
  }
  const now = new Date();
  const message = packet.threadId === null ? undefined : await takeMessage(database, packet);
  const words = message ? await removeUnusedWords(database, message.folded) : [];
  await uncountObservation(database, packetId);
  await eraseSections(database, packetId, { hash: hashOf(packet.footer), now });
  await eraseDetails(database, packetId);
  const gone = await eraseFiles(database, packet, now);
  await eraseAnswers(database, [ulid, ...gone.attachments]);
  await insertErasure(database, { packetId, now, reason });
  await queueEvents(database, await eventsOf(database, packet, now));
  await queueErasure(database);
  await returnRights(database);
  return { at: now, again: false, words, ...gone };
}

/** The entry of the log for everyone, and one for each user with whom the packet was shared. */
async function eventsOf(database: Database, packet: ErasablePacket, now: Date): Promise<LogEvent[]> {
  const { id, threadId, geoid, additionalGeoids } = packet;
  const details = { created_at: now.toISOString() };
  const recipients = await findRecipients(database, id);
  return [
    {
      kind: 'erased',
      packetId: id,
      geoids: [geoid, ...additionalGeoids],
      details,
      ...(threadId !== null && { threadId }),
    },
    ...recipients.map(({ userId, closed }) => ({
      kind: 'erased' as const,
      packetId: id,
      userId,
      details: { ...details, ...(closed && { [CLOSED]: true }) },
    })),
  ];
}
