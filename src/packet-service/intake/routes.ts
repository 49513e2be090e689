import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import type { Static } from 'typebox';
import { coalesce } from '../../platform/concurrency/coalesce.ts';
import type { Pace } from '../../platform/concurrency/pacer.ts';
import { room } from '../../platform/concurrency/room.ts';
import { decodeBody } from '../../platform/http/encoding.ts';
import { Problem } from '../../platform/http/problems.ts';
import { JSON_BODY, type Server, sendText } from '../../platform/http/server.ts';
import { skipBodyCheck } from '../../platform/http/streamed-body.ts';
import { bodyCheck } from '../../platform/http/validation.ts';
import { actingUser } from '../access/caller.ts';
import { ChatMessageBody } from '../chat/schemas.ts';
import type { WordKeeper } from '../chat/search/dictionary.ts';
import type { ThreadCheck } from '../chat/threads/thread-check.ts';
import type { GeoidResolver } from '../geoids/resolver.ts';
import { keyText, readKey, sendAgain } from '../idempotency/idempotency.ts';
import { findAnswers, type Key } from '../idempotency/store.ts';
import { MAX_PACKET_BYTES } from '../packet/packet.ts';
import type { BatchWriter } from '../writer/batch-writer.ts';
import { type BatchTaking, type ItemKinds, takeBatch } from './batch.ts';
import { readChatMessage } from './chat-message.ts';
import { registerFinalized } from './finalized-packets.ts';
import { splitItems } from './items.ts';
import { batchSchema, chatMessageSchema, MAX_BATCH_BYTES, ScoutingBody, scoutingSchema } from './schemas.ts';
import { readObservation } from './scouting.ts';
import { type IntakeAnswer, takePacket } from './take.ts';

/**
 * Bytes of the items of all batches that are parsed and not answered yet, at most: parsed they take up to twenty times
 * as much. The others wait as the bytes they came as.
 */
const PARSED_BYTES = 8 * 1024 * 1024;

/** What intake needs; the caches of threads and words are shared with chat. */
interface Intake {
  pool: pg.Pool;
  writer: BatchWriter;
  resolver: GeoidResolver;
  checkThread: ThreadCheck;
  keepWords: WordKeeper;
  pace: Pace;
}

/** Taking in what comes from the field: one by one, many at once, and finalized by clients. */
export function registerIntake(
  app: Server,
  { pool, writer, resolver, checkThread, keepWords, pace }: Intake,
): void {
  const taking = { writer, findAnswer: coalesce((keys: Key[]) => findAnswers(pool, keys), { max: 500 }) };
  const kinds = {
    scouting: {
      path: '/intake/scouting',
      check: bodyCheck(ScoutingBody),
      inTurn: false,
      prepare: async ({ headers, user }, body) => {
        const make = await readObservation(resolver, body as Static<typeof ScoutingBody>, {
          contentLanguage: headers['content-language'],
          author: user,
        });
        return () => ({ packet: make() });
      },
    },
    'chat-message': {
      path: '/intake/chat-message',
      check: bodyCheck(ChatMessageBody),
      inTurn: true,
      prepare: async (request, body) => {
        const message = body as Static<typeof ChatMessageBody>;
        const named = message.from_user ?? request.user;
        const visitor = { anonymous: request.anonymous, userId: named, field: 'from_user' };
        // Both ask the database, at the same time.
        const [sender, thread] = await Promise.all([
          actingUser(request, 'from_user', message.from_user),
          checkThread(message.thread_id, visitor),
        ]);
        return readChatMessage({ resolver, keepWords }, message, {
          thread,
          sender,
          author: request.user,
          contentLanguage: request.headers['content-language'],
        });
      },
    },
  } satisfies ItemKinds;

  app.post(
    '/intake/scouting',
    { schema: scoutingSchema, bodyLimit: MAX_PACKET_BYTES },
    async (request, reply) =>
      sendTaken(
        reply,
        await takePacket(taking, readKey(request), () => kinds.scouting.prepare(request, request.body)),
      ),
  );

  app.post(
    '/intake/chat-message',
    { schema: chatMessageSchema, bodyLimit: MAX_PACKET_BYTES },
    async (request, reply) =>
      sendTaken(
        reply,
        await takePacket(taking, readKey(request), () =>
          kinds['chat-message'].prepare(request, request.body),
        ),
      ),
  );

  registerBatch(app, kinds, { ...taking, pace, parsed: room(PARSED_BYTES) });
  registerFinalized(app, { pool, writer, checkThread, keepWords });
}

/** In a context of its own, where a body is taken apart into its items instead of being read as a whole. */
function registerBatch(app: Server, kinds: ItemKinds, taking: BatchTaking): void {
  const { pace } = taking;
  app.register(async scope => {
    skipBodyCheck(scope as Server);
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(
      JSON_BODY,
      { parseAs: 'buffer' },
      async (request: FastifyRequest, bytes: Buffer) =>
        splitItems(await decodeBody(request, bytes), 'array', pace),
    );
    scope.addContentTypeParser(
      'application/x-ndjson',
      { parseAs: 'buffer' },
      async (request: FastifyRequest, bytes: Buffer) =>
        splitItems(await decodeBody(request, bytes), 'lines', pace),
    );
    scope.post(
      '/intake/batch',
      { schema: batchSchema, bodyLimit: MAX_BATCH_BYTES },
      async (request, reply) => {
        const items = request.body as Buffer[] | undefined;
        if (!items) throw new Problem('invalid', 'the body must be a JSON array, or NDJSON');
        const answers = await takeBatch(taking, kinds, request, items, keyText(request));
        const asLines = /ndjson/i.test(request.headers['content-type'] ?? '');
        return asLines
          ? sendText(
              reply,
              answers.map(answer => `${JSON.stringify(answer)}\n`).join(''),
              'application/x-ndjson',
            )
          : { results: answers };
      },
    );
  });
}

function sendTaken(reply: FastifyReply, taken: IntakeAnswer): FastifyReply {
  return taken.again ? sendAgain(reply, taken) : sendText(reply.code(taken.status), taken.answer);
}
