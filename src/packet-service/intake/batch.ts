import type { FastifyBaseLogger } from 'fastify';
import type { Pace } from '../../platform/concurrency/pacer.ts';
import { toProblem } from '../../platform/http/failures.ts';
import { LARGE_TEXT, readJson, readJsonInTurns } from '../../platform/http/json.ts';
import { Problem } from '../../platform/http/problems.ts';
import type { Fault } from '../../platform/http/reasons/catalogue.ts';
import { bodyCheck } from '../../platform/http/validation.ts';
import type { ProcessSlots } from '../../platform/limits/slots.ts';
import { makeKey } from '../core/idempotency/idempotency.ts';
import { MAX_PACKET_BYTES } from '../core/packet-format/packet.ts';
import { acceptPacket, type IntakeAnswer, type IntakeContext } from './accept-packet.ts';
import type { ItemKinds, Sender } from './kinds.ts';
import { BatchItem } from './schemas.ts';

/** The answer to one item. */
export type ItemAnswer =
  | { packet_uuid: string; truncated?: readonly string[] }
  | { error: string; status: number; reason: string; parameters: Fault['parameters']; retry_after?: number };

/** Approximate microseconds per byte of an item for reading and checking it, and for making the packet. */
const READING_COST = 0.1;
const MAKING_COST = 0.1;

/** Dependencies of accepting a batch. */
export interface BatchContext extends IntakeContext {
  kinds: ItemKinds;
  /** logs internal errors */
  logger: Pick<FastifyBaseLogger, 'error'>;
  pace: Pace;
  /** bounds the bytes of items that are parsed and not answered yet */
  parsed: ProcessSlots;
}

/** The route of the keys that version 0.1 stored for items without one of their own. */
const FORMER_ROUTE = 'POST /intake/batch';

const checkItem = bodyCheck(BatchItem);

/**
 * Accepts the items of a batch independently: a refused item does not affect the others. They share look-ups and
 * transactions with everything that arrives at the same time, and messages are stored in the order of their items,
 * even if the location of an earlier one takes longer to resolve.
 *
 * Work on the event loop is paced, so that other requests are served between two items, and an item is parsed only
 * when there is room for it, so that the memory of many large batches is bounded.
 *
 * @param items JSON texts in valid UTF-8
 * @param batchKey the Idempotency-Key of the batch; with its index it is the key of an item that has none
 * @returns the answers, in the order of the items
 */
export async function acceptBatch(
  context: BatchContext,
  sender: Sender,
  items: readonly Buffer[],
  batchKey: string | undefined,
): Promise<ItemAnswer[]> {
  const { parsed, pace } = context;
  const order = { last: Promise.resolve() };
  const answers: Promise<ItemAnswer>[] = [];
  for (const [index, bytes] of items.entries()) {
    const waits = parsed.take(bytes.length);
    if (waits) await waits;
    // Items are read one after another, which keeps their order.
    const reading = readItem(bytes, pace);
    const read = reading instanceof Promise ? await reading : reading;
    const itemKey = batchKey === undefined ? undefined : `${batchKey}/${index}`;
    answers.push(answerItem(context, sender, { read, itemKey, size: bytes.length }, order));
  }
  return Promise.all(answers);
}

/** An item of a batch whose turn to be parsed has come. */
interface ReadItem {
  /** @throws Problem unreadable, too_large */
  read: () => unknown;
  /** the key derived from the batch's key and its index in the batch */
  itemKey: string | undefined;
  /** in bytes */
  size: number;
}

async function answerItem(
  context: BatchContext,
  sender: Sender,
  item: ReadItem,
  order: ItemOrder,
): Promise<ItemAnswer> {
  try {
    const { answer, truncated } = await acceptItem(context, sender, item, order);
    const stored = JSON.parse(answer) as { packet_uuid: string };
    return truncated.length > 0 ? { ...stored, truncated } : stored;
  } catch (error) {
    const problem = toProblem(error);
    if (problem.code === 'internal') context.logger.error({ err: error }, 'an item of a batch failed');
    return refusedItem(problem);
  } finally {
    context.parsed.free(item.size);
  }
}

/** `retry_after` marks items that may be accepted later. */
function refusedItem({ message, status, faults, retryAfter }: Problem): ItemAnswer {
  const later = retryAfter === undefined ? undefined : { retry_after: retryAfter };
  return { error: message, status, ...(faults[0] as Fault), ...later };
}

/** The ordered items of a batch: settles when the last of them is made or refused. */
interface ItemOrder {
  last: Promise<void>;
}

/** Waits for an item's turn, which most items need not, and parses large ones in several turns. */
function readItem(bytes: Buffer, pace: Pace): ReadItem['read'] | Promise<ReadItem['read']> {
  if (bytes.length > MAX_PACKET_BYTES) {
    return () => {
      throw new Problem('intake_batch.item_too_large', { max: MAX_PACKET_BYTES });
    };
  }
  if (bytes.length > LARGE_TEXT) {
    return readJsonInTurns(bytes.toString('utf8'), pace).then(
      item => () => item,
      error => () => {
        throw error;
      },
    );
  }
  const read = () => readJson(bytes.toString('utf8'));
  return pace(bytes.length * READING_COST)?.then(() => read) ?? read;
}

/** Checks before the first await, which keeps the order of the items. */
async function acceptItem(
  context: BatchContext,
  sender: Sender,
  { read, itemKey, size }: ReadItem,
  order: ItemOrder,
): Promise<IntakeAnswer & { truncated: readonly string[] }> {
  const { intake, idempotency_key, body } = checkItem(read());
  const kind = context.kinds[intake];
  kind.check(body);
  const text = idempotency_key ?? itemKey;
  const key = text === undefined ? undefined : makeKey(sender, `POST /intake/${intake}`, text, body);
  const taking = key && idempotency_key === undefined ? findingFormer(context, { intake, body }) : context;
  const makerInPace = async (turn?: Promise<void>) => {
    const makePacket = await kind.packetMaker(sender, body);
    if (turn) await turn;
    const pausing = context.pace(size * MAKING_COST);
    if (pausing) await pausing;
    return makePacket;
  };
  const truncated = kind.truncated(body);
  if (!kind.isOrdered) return { ...(await acceptPacket(taking, key, makerInPace)), truncated };

  const turn = order.last;
  const { promise: made, resolve: done } = Promise.withResolvers<void>();
  order.last = Promise.all([turn, made]).then(() => {});
  const makerInTurn = async () => {
    const makePacket = await makerInPace(turn);
    return () => {
      done();
      return makePacket();
    };
  };
  return { ...(await acceptPacket(taking, key, makerInTurn).finally(done)), truncated };
}

/** Also finds the answer that version 0.1 stored for an item: a phone may repeat its batch days after an upgrade. */
function findingFormer({ findAnswer, ...context }: BatchContext, item: object): IntakeContext {
  return {
    ...context,
    async findAnswer(key) {
      const [answer, former] = await Promise.all([
        findAnswer(key),
        findAnswer({ ...key, route: FORMER_ROUTE }),
      ]);
      if (answer || !former) return answer;
      const { fingerprint } = makeKey({ user: key.caller }, FORMER_ROUTE, key.key, item);
      return former.fingerprint.equals(fingerprint) ? { ...former, fingerprint: key.fingerprint } : former;
    },
  };
}
