import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Static } from 'typebox';
import { Problem } from '../../platform/http/problems.ts';
import type { Server } from '../../platform/http/server.ts';
import { chatMessage, indexText } from '../chat/messages/message.ts';
import type { WordKeeper } from '../chat/search/dictionary.ts';
import type { ThreadCheck } from '../chat/threads/thread-check.ts';
import { earlierAnswer, readKey, sameRequest, sendAgain } from '../idempotency/idempotency.ts';
import { MAX_PACKET_BYTES } from '../packet/packet.ts';
import { ulidToUuid } from '../packet/ulid.ts';
import { findPackets } from '../packets/read-store.ts';
import { refuseErased } from '../packets/reader.ts';
import type { BatchWriter } from '../writer/batch-writer.ts';
import { type HashedSections, hashedSections, readFinalizedPacket } from './finalized.ts';
import { checkFinalizedMessage } from './finalized-message.ts';
import { type NewPacket, packetWrite } from './packet-write.ts';
import { postPacketSchema } from './schemas.ts';

/** What storing finalized packets needs. */
interface FinalizedIntake {
  pool: pg.Pool;
  writer: BatchWriter;
  checkThread: ThreadCheck;
  keepWords: WordKeeper;
}

/** Storing packets that clients finalized themselves, ids and hashes included. */
export function registerFinalized(
  app: Server,
  { pool, writer, checkThread, keepWords }: FinalizedIntake,
): void {
  app.post('/packets', { schema: postPacketSchema, bodyLimit: MAX_PACKET_BYTES }, async (request, reply) => {
    const key = readKey(request);
    const earlier = await earlierAnswer(pool, key);
    if (earlier) return sendAgain(reply, earlier);

    const { id } = request.body.Header;
    const answer = { packet_uuid: id };
    const sections = hashedSections(request.body);
    const packet = await readPacket(request, sections).catch(async error => {
      const refused = error instanceof Problem && error.code === 'invalid';
      // What was stored when there were fewer rules is not refused for them when it is sent again.
      if (refused && (await isStored(id, sections))) return undefined;
      throw error;
    });
    if (!packet) return reply.code(200).send(answer);

    const claim = key && { ...key, status: 201, answer: JSON.stringify(answer) };
    const outcome = await writer.write(packetWrite(packet, { freshId: false, claim }));
    if (outcome.kind === 'stored') return reply.code(201).send(answer);
    if (outcome.kind === 'key-exists' && key) return sendAgain(reply, sameRequest(key, outcome.answer));
    if (await isStored(id, sections)) return reply.code(200).send(answer);
    throw new Problem('conflict', `Header.id ${id} belongs to a packet with another hash`);
  });

  async function readPacket(request: FinalizedRequest, sections: HashedSections): Promise<NewPacket> {
    const { Header, Body } = request.body;
    const author = request.user;
    if (Header.type !== 'chat_message') {
      return { packet: readFinalizedPacket(request.body, sections, { thread: undefined, author }) };
    }
    const thread = await checkFinalizedMessage(checkThread, request, Body);
    // The words of a message that was erased must not come back by sending it again.
    await isStored(Header.id, sections);
    const packet = readFinalizedPacket(request.body, sections, { thread, author });
    const { text = '', from_user: sender = author } = Body as { text?: string; from_user?: string };
    const indexed = indexText(text);
    await keepWords(indexed);
    const chat = chatMessage(packet, indexed, { timestamp: Header.timestamp, sender });
    return { packet, chat };
  }

  /**
   * Whether this very packet is stored. The texts are compared, which are what was hashed.
   *
   * @throws Problem gone when it was erased
   */
  async function isStored(id: string, { header, body }: HashedSections): Promise<boolean> {
    const [stored] = await findPackets(pool, [ulidToUuid(id)]);
    if (stored) refuseErased(stored, id);
    return stored?.header === header && stored.body === body;
  }
}

type FinalizedRequest = FastifyRequest & { body: Static<typeof postPacketSchema.body> };
