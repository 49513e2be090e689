import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Pace } from '../../platform/concurrency/pacer.ts';
import type { Room } from '../../platform/concurrency/room.ts';
import { toProblem } from '../../platform/http/failures.ts';
import { LARGE_TEXT, readJson, readJsonInTurns } from '../../platform/http/json.ts';
import { Problem } from '../../platform/http/problems.ts';
import { bodyCheck } from '../../platform/http/validation.ts';
import { makeKey } from '../idempotency/idempotency.ts';
import { MAX_PACKET_BYTES } from '../packet/packet.ts';
import { type IntakeAnswer, type Prepare, type Taking, takePacket } from './take.ts';

/** One kind of item: the endpoint that takes it alone, and how its packet is made. */
export interface ItemKind {
  path: string;
  check: (body: unknown) => void;
  /** whether its packets are ordered by their arrival: each then waits for its turn to get its id and time */
  inTurn: boolean;
  prepare: (request: FastifyRequest, body: unknown) => ReturnType<Prepare>;
}

export type ItemKinds = Readonly<Record<string, ItemKind>>;

/** What one item is answered. */
export type ItemAnswer = { packet_uuid: string } | { error: string; status: number; retry_after?: number };

/** An item as clients send it. Its body is what they would send to the endpoint for one. */
export const BatchItem = Type.Object(
  {
    intake: Type.Union([Type.Literal('scouting'), Type.Literal('chat-message')], {
      description: 'the endpoint that would take the body alone: /intake/scouting or /intake/chat-message',
    }),
    idempotency_key: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 255,
        description:
          'as the Idempotency-Key header there; a key used there counts here, and the other way round. Without one the ' +
          "item's key is the Idempotency-Key header of the batch, a slash, and the place of the item, from 0 on",
      }),
    ),
    body: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: false },
);

/** Microseconds that a byte of an item takes to be read and checked, and to become a packet, about. */
const READING_COST = 0.1;
const MAKING_COST = 0.1;

/** What taking a batch needs. */
export interface BatchTaking extends Taking {
  pace: Pace;
  /** in which items are while they are parsed and not answered yet, by their bytes */
  parsed: Room;
}

/** What keys made of places are told apart by: none of them is a key of the endpoints for one. */
const BATCH_ROUTE = 'POST /intake/batch';

const checkItem = bodyCheck(BatchItem);

/**
 * Takes the items of a batch in, each as if it had come alone: one that is refused harms no other. They share the
 * look-ups and transactions of everything that arrives at the same time, and messages come out in the order of their
 * items, even where the place of an earlier one took longer to resolve.
 *
 * What holds the event loop waits for its turn, so that other requests are served between two items; and an item is
 * parsed only when there is room for it, so that the memory of many large batches is bounded.
 *
 * @param items JSON texts in valid UTF-8
 * @param batchKey the Idempotency-Key of the whole, which with its place is the key of an item that has none
 * @returns their answers, in their order
 */
export async function takeBatch(
  taking: BatchTaking,
  kinds: ItemKinds,
  request: FastifyRequest,
  items: readonly Buffer[],
  batchKey: string | undefined,
): Promise<ItemAnswer[]> {
  const { parsed, pace } = taking;
  const line = { last: Promise.resolve() };
  const answers: Promise<ItemAnswer>[] = [];
  for (const [index, bytes] of items.entries()) {
    await parsed.enter(bytes.length);
    const reading = readItem(bytes, pace);
    // Items are read one after another, so that they stand in line in their order.
    await reading.catch(() => {});
    const placeKey = batchKey === undefined ? undefined : `${batchKey}/${index}`;
    const answer = reading
      .then(item => takeItem(taking, kinds, request, { item, placeKey, size: bytes.length }, line))
      .then(({ answer }) => JSON.parse(answer) as ItemAnswer)
      .catch(error => {
        const problem = toProblem(error);
        if (problem.code === 'internal') request.log.error({ err: error }, 'an item of a batch failed');
        return refusedItem(problem);
      })
      .finally(() => parsed.leave(bytes.length));
    answers.push(answer);
  }
  return Promise.all(answers);
}

/** `retry_after` tells an item that may be taken later from one that never will be. */
function refusedItem({ message, status, retryAfter }: Problem): ItemAnswer {
  return { error: message, status, ...(retryAfter !== undefined && { retry_after: retryAfter }) };
}

/** The packets of a batch that go in turn: the last of them, made or refused. */
interface Line {
  last: Promise<void>;
}

/** @throws Problem unreadable, too_large */
async function readItem(bytes: Buffer, pace: Pace): Promise<unknown> {
  if (bytes.length > MAX_PACKET_BYTES) {
    throw new Problem('too_large', `the item is larger than ${MAX_PACKET_BYTES} bytes`);
  }
  if (bytes.length > LARGE_TEXT) return readJsonInTurns(bytes.toString('utf8'), pace);
  await pace(bytes.length * READING_COST);
  return readJson(bytes.toString('utf8'));
}

/** Checks before it waits for anything, so that items stand in line in their order. */
async function takeItem(
  taking: BatchTaking,
  kinds: ItemKinds,
  request: FastifyRequest,
  { item, placeKey, size }: { item: unknown; placeKey: string | undefined; size: number },
  line: Line,
): Promise<IntakeAnswer> {
  checkItem(item);
  const { intake, idempotency_key, body } = item as {
    intake: string;
    idempotency_key?: string;
    body: object;
  };
  const kind = kinds[intake] as ItemKind;
  kind.check(body);
  const placed =
    placeKey === undefined ? undefined : makeKey(request, BATCH_ROUTE, placeKey, { intake, body });
  const key =
    idempotency_key === undefined ? placed : makeKey(request, `POST ${kind.path}`, idempotency_key, body);
  const prepareInPace = async (turn?: Promise<void>) => {
    const make = await kind.prepare(request, body);
    await turn;
    await taking.pace(size * MAKING_COST);
    return make;
  };
  if (!kind.inTurn) return takePacket(taking, key, prepareInPace);

  const turn = line.last;
  const { promise: made, resolve: done } = Promise.withResolvers<void>();
  line.last = Promise.all([turn, made]).then(() => {});
  const prepare = async () => {
    const make = await prepareInPace(turn);
    return () => {
      done();
      return make();
    };
  };
  return takePacket(taking, key, prepare).finally(done);
}
