import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { readJson } from '../../platform/json.ts';
import { Problem } from '../../platform/problems.ts';
import { bodyCheck } from '../../platform/server.ts';
import { makeKey } from '../idempotency/idempotency.ts';
import { MAX_PACKET_BYTES } from '../packets/packet.ts';
import { type IntakeAnswer, type NewPacket, type Taking, takePacket } from './take.ts';

/** One kind of item: the endpoint that takes it alone, and how its packet is made. */
export interface ItemKind {
  path: string;
  check: (body: unknown) => void;
  /** @param turn what a packet that is ordered by its arrival waits for before it gets its id and time */
  make: (request: FastifyRequest, body: unknown, turn?: Promise<void>) => Promise<NewPacket>;
}

export type ItemKinds = Readonly<Record<string, ItemKind>>;

/** What one item is answered. */
export type ItemAnswer = { packet_uuid: string } | { error: string; status: number };

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
          'as the Idempotency-Key header there; a key used there counts here, and the other way round',
      }),
    ),
    body: Type.Object({}, { additionalProperties: true }),
  },
  { additionalProperties: false },
);

const checkItem = bodyCheck(BatchItem);

/**
 * Takes the items of a batch in, each as if it had come alone: one that is refused harms no other. They share the
 * look-ups and transactions of everything that arrives at the same time, and messages come out in the order of their
 * items, even where the place of an earlier one took longer to resolve.
 *
 * @param items JSON texts
 * @returns their answers, in their order
 */
export function takeBatch(
  taking: Taking,
  kinds: ItemKinds,
  request: FastifyRequest,
  items: readonly string[],
): Promise<ItemAnswer[]> {
  let before = Promise.resolve();
  return Promise.all(
    items.map(async text => {
      const turn = before;
      const { promise: made, resolve: done } = Promise.withResolvers<void>();
      before = Promise.all([turn, made]).then(() => {});
      try {
        const { answer } = await takeItem(taking, kinds, request, { text, turn, done });
        return JSON.parse(answer) as ItemAnswer;
      } catch (error) {
        if (error instanceof Problem) return { error: error.message, status: error.status };
        request.log.error({ err: error }, 'an item of a batch failed');
        return { error: 'something went wrong on our side; the log tells what', status: 500 };
      } finally {
        done();
      }
    }),
  );
}

async function takeItem(
  taking: Taking,
  kinds: ItemKinds,
  request: FastifyRequest,
  { text, turn, done }: { text: string; turn: Promise<void>; done: () => void },
): Promise<IntakeAnswer> {
  if (text.length > MAX_PACKET_BYTES) {
    throw new Problem('too_large', `the item is larger than ${MAX_PACKET_BYTES} bytes`);
  }
  const item = readJson(text);
  checkItem(item);
  const { intake, idempotency_key, body } = item as {
    intake: string;
    idempotency_key?: string;
    body: object;
  };
  const kind = kinds[intake] as ItemKind;
  kind.check(body);
  const key =
    idempotency_key === undefined ? undefined : makeKey(request, `POST ${kind.path}`, idempotency_key, body);
  return takePacket(taking, key, async () => {
    const made = await kind.make(request, body, turn);
    done();
    return made;
  });
}
