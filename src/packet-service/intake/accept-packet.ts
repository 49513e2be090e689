import { checkSameRequest } from '../core/idempotency/idempotency.ts';
import type { Key, StoredAnswer } from '../core/idempotency/store.ts';
import { uuidToUlid } from '../core/packet-format/ulid.ts';
import type { BatchWriter } from '../core/writer/batch-writer.ts';
import type { UntilComplete } from '../core/writer/broken-commits.ts';
import { type MakePacket, packetWrite } from './packet-write.ts';

/** Dependencies of accepting a packet. */
export interface IntakeContext {
  writer: BatchWriter;
  /** looks up the stored answer of a key */
  findAnswer: (key: Key) => Promise<StoredAnswer | undefined>;
  /** for an earlier answer: a cluster may hide for a moment what it is about */
  untilComplete: UntilComplete;
}

/** The answer to an intake request: an HTTP status and a JSON text. */
export interface IntakeAnswer {
  status: number;
  answer: string;
  /** whether it is a replay for a repeated Idempotency-Key */
  replayed: boolean;
}

/**
 * Accepts one packet: makes and stores it, unless the same request was answered before.
 *
 * @param packetMaker does the asynchronous work; what it or its result throws is the request's error
 * @returns after the commit
 * @throws Problem conflict when the key was used with another body
 */
export async function acceptPacket(
  { writer, findAnswer, untilComplete }: IntakeContext,
  key: Key | undefined,
  packetMaker: () => Promise<MakePacket>,
): Promise<IntakeAnswer> {
  const since = writer.now();
  const earlier = key && (await findAnswer(key));
  if (earlier) {
    await untilComplete();
    return { ...checkSameRequest(key, earlier), replayed: true };
  }

  for (;;) {
    const makePacket = await packetMaker();
    // No await from here until the packet enters the writer, so that messages enter in the order of their ids.
    const made = makePacket();
    const stored = { status: 201, answer: `{"packet_uuid":"${uuidToUlid(made.packet.id)}"}` };
    const write = packetWrite(made, { freshId: true, claim: key && { ...key, ...stored } });
    const outcome = await writer.write(write, since);
    if (outcome.kind === 'key-exists' && key)
      return { ...checkSameRequest(key, outcome.answer), replayed: true };
    if (outcome.kind !== 'outdated') return { ...stored, replayed: false };
    // Fields have changed since: its GeoIDs are looked up again.
    made.asOf?.outdated();
  }
}
