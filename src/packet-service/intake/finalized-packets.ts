import type pg from 'pg';
import { Problem } from '../../platform/http/problems.ts';
import { chatMessage, indexText } from '../collaboration/chat/messages/message.ts';
import type { AddWords } from '../collaboration/chat/search/dictionary.ts';
import type { ThreadCheck } from '../collaboration/chat/threads/thread-check.ts';
import type { Caller } from '../core/access/caller.ts';
import { checkSameRequest, findEarlierAnswer } from '../core/idempotency/idempotency.ts';
import type { Key } from '../core/idempotency/store.ts';
import { ulidToUuid } from '../core/packet-format/ulid.ts';
import { findPackets } from '../core/packets/read-store.ts';
import { refuseErased } from '../core/packets/reader.ts';
import type { BatchWriter } from '../core/writer/batch-writer.ts';
import type { UntilComplete } from '../core/writer/broken-commits.ts';
import type { IntakeAnswer } from './accept-packet.ts';
import { type Finalized, type HashedSections, hashedSections, readFinalizedPacket } from './finalized.ts';
import { checkFinalizedMessage } from './finalized-message.ts';
import { type NewPacket, packetWrite } from './packet-write.ts';

/** Dependencies of storing finalized packets. */
export interface FinalizedContext {
  pool: pg.Pool;
  writer: BatchWriter;
  checkThread: ThreadCheck;
  addWords: AddWords;
  untilComplete: UntilComplete;
}

/**
 * Accepts a finalized packet, with its id and hash.
 *
 * @returns 201 when it was stored, 200 if the same packet was stored before
 * @throws Problem invalid, conflict when the id belongs to another packet, gone when it was erased; of a chat message
 *   also not_found, forbidden and unauthenticated
 */
export async function acceptFinalized(
  context: FinalizedContext,
  caller: Caller,
  key: Key | undefined,
  finalized: Finalized,
): Promise<IntakeAnswer> {
  const { pool, writer, untilComplete } = context;
  const since = writer.now();
  const earlier = await findEarlierAnswer(pool, key);
  if (earlier) {
    await untilComplete();
    return { ...earlier, replayed: true };
  }

  const { id } = finalized.Header;
  const answer = JSON.stringify({ packet_uuid: id });
  const storedBefore = { status: 200, answer, replayed: false };
  const sections = hashedSections(finalized);
  const packet = await readPacket(context, caller, finalized, sections).catch(async error => {
    const refused = error instanceof Problem && error.code === 'invalid';
    // A stored packet that is sent again is not refused by rules added since.
    if (refused && (await isStored(pool, id, sections))) return undefined;
    throw error;
  });
  if (!packet) return storedBefore;

  const claim = key && { ...key, status: 201, answer };
  const outcome = await writer.write(packetWrite(packet, { freshId: false, claim }), since);
  if (outcome.kind === 'stored') return { status: 201, answer, replayed: false };
  if (outcome.kind === 'key-exists' && key)
    return { ...checkSameRequest(key, outcome.answer), replayed: true };
  if (await isStored(pool, id, sections)) return storedBefore;
  throw new Problem('packet.id_taken', { id, field: 'Header.id' });
}

async function readPacket(
  { pool, checkThread, addWords }: FinalizedContext,
  caller: Caller,
  finalized: Finalized,
  sections: HashedSections,
): Promise<NewPacket> {
  const { Header, Body } = finalized;
  const author = caller.user;
  if (Header.type !== 'chat_message') {
    return { packet: readFinalizedPacket(finalized, sections, { thread: undefined, author }) };
  }
  const { thread, message } = await checkFinalizedMessage(checkThread, caller, Body);
  // The words of a message that was erased must not come back by sending it again.
  await isStored(pool, Header.id, sections);
  const packet = readFinalizedPacket(finalized, sections, { thread, author });
  const indexed = indexText(message.text);
  await addWords(indexed);
  const chat = chatMessage(packet, indexed, {
    timestamp: Header.timestamp,
    sender: message.from_user ?? author,
  });
  return { packet, chat };
}

/**
 * Whether the same packet is stored. Compares the hashed texts.
 *
 * @throws Problem gone when it was erased
 */
async function isStored(pool: pg.Pool, id: string, { header, body }: HashedSections): Promise<boolean> {
  const [stored] = await findPackets(pool, [ulidToUuid(id)]);
  if (stored) refuseErased(stored, id);
  return stored?.header === header && stored.body === body;
}
