import { checkSameRequest } from '../idempotency/idempotency.ts';
import type { Key, StoredAnswer } from '../idempotency/store.ts';
import { uuidToUlid } from '../packet/ulid.ts';
import type { BatchWriter } from '../writer/batch-writer.ts';
import { type NewPacket, packetWrite } from './packet-write.ts';

/** What taking a packet in needs. */
export interface IntakeContext {
  writer: BatchWriter;
  /** the answer that a key stands for already */
  findAnswer: (key: Key) => Promise<StoredAnswer | undefined>;
}

/** What an intake request is answered: an HTTP status and a JSON text. */
export interface IntakeAnswer {
  status: number;
  answer: string;
  /** whether it is the first answer once more, to a repeated Idempotency-Key */
  replayed: boolean;
}

/** Does what takes time; the function that it gives makes the packet, with an id that no other has. */
export type Prepare = () => Promise<() => NewPacket>;

/**
 * Takes one packet in: makes it, unless the same request was answered before, and stores it.
 *
 * @param prepare what it or the function that it gives throws is the request's error
 * @returns after the commit
 * @throws Problem conflict when the key was used with another body
 */
export async function acceptPacket(
  { writer, findAnswer }: IntakeContext,
  key: Key | undefined,
  prepare: Prepare,
): Promise<IntakeAnswer> {
  const since = writer.now();
  const earlier = key && (await findAnswer(key));
  if (earlier) return { ...checkSameRequest(key, earlier), replayed: true };

  const make = await prepare();
  // Nothing is awaited from here until the packet is with the writer: messages go there in the order of their ids.
  const made = make();
  const stored = { status: 201, answer: `{"packet_uuid":"${uuidToUlid(made.packet.id)}"}` };
  const write = packetWrite(made, { freshId: true, claim: key && { ...key, ...stored } });
  const outcome = await writer.write(write, since);
  if (outcome.kind === 'key-exists' && key)
    return { ...checkSameRequest(key, outcome.answer), replayed: true };
  return { ...stored, replayed: false };
}
