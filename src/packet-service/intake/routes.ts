import type { FastifyReply, FastifyRequest } from 'fastify';
import type pg from 'pg';
import { batchLoader } from '../../platform/concurrency/batch-loader.ts';
import type { Pace } from '../../platform/concurrency/pacer.ts';
import { decodeBody } from '../../platform/http/encoding.ts';
import { Problem } from '../../platform/http/problems.ts';
import { JSON_BODY, type Server, sendText } from '../../platform/http/server.ts';
import { skipBodyCheck } from '../../platform/http/streamed-body.ts';
import { processSlots } from '../../platform/limits/slots.ts';
import { keyText, readKey, replayAnswer } from '../core/idempotency/idempotency.ts';
import { findAnswers, type Key } from '../core/idempotency/store.ts';
import { MAX_PACKET_BYTES } from '../core/packet-format/packet.ts';
import type { BatchWriter } from '../core/writer/batch-writer.ts';
import type { UntilComplete } from '../core/writer/broken-commits.ts';
import { acceptPacket, type IntakeAnswer } from './accept-packet.ts';
import { acceptBatch, type BatchContext } from './batch.ts';
import { acceptFinalized } from './finalized-packets.ts';
import { splitItems } from './items.ts';
import { type ItemContext, itemKinds, type Sender } from './kinds.ts';
import {
  batchSchema,
  INTAKE_NAMES,
  intakeSchemas,
  MAX_BATCH_BYTES,
  postPacketSchema,
  TRUNCATED,
} from './schemas.ts';

/**
 * Bytes of the items of all batches that are parsed and not answered yet, at most; parsed, they take up to twenty
 * times as much memory. Other items wait unparsed.
 */
const PARSED_BYTES = 8 * 1024 * 1024;

/** Dependencies of intake. */
interface Intake extends ItemContext {
  pool: pg.Pool;
  writer: BatchWriter;
  pace: Pace;
  untilComplete: UntilComplete;
}

/** Intake: single items, batches, and finalized packets. */
export function registerIntake(
  app: Server,
  { pool, writer, resolver, checkThread, addWords, pace, untilComplete }: Intake,
): void {
  const taking = {
    writer,
    findAnswer: batchLoader((keys: Key[]) => findAnswers(pool, keys), { max: 500 }),
    untilComplete,
  };
  const kinds = itemKinds({ resolver, checkThread, addWords });
  for (const name of INTAKE_NAMES) {
    const options = {
      schema: intakeSchemas[name],
      bodyLimit: MAX_PACKET_BYTES,
      config: { storesInBatch: true },
    };
    app.post(`/intake/${name}`, options, async (request, reply) => {
      const { packetMaker, truncated } = kinds[name];
      const taken = await acceptPacket(taking, readKey(request), () =>
        packetMaker(senderOf(request), request.body),
      );
      // Found in the body, so that a repeated request gets it, too.
      const fields = truncated(request.body);
      if (fields.length > 0) reply.header(TRUNCATED, fields.join(', '));
      return sendTaken(reply, taken);
    });
  }
  const parsed = processSlots({ total: PARSED_BYTES });
  registerBatch(app, { ...taking, kinds, pace, parsed, logger: app.log });

  const finalized = { pool, writer, checkThread, addWords, untilComplete };
  const options = { schema: postPacketSchema, bodyLimit: MAX_PACKET_BYTES, config: { storesInBatch: true } };
  app.post('/packets', options, async (request, reply) =>
    sendTaken(reply, await acceptFinalized(finalized, request, readKey(request), request.body)),
  );
}

function senderOf({ user, anonymous, headers }: FastifyRequest): Sender {
  return { user, anonymous, contentLanguage: headers['content-language'] };
}

/** Registers the batch in a separate context: its body is split into items instead of parsed as a whole. */
function registerBatch(app: Server, taking: BatchContext): void {
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
        if (!items) throw new Problem('intake_batch.without_body');
        const answers = await acceptBatch(taking, senderOf(request), items, keyText(request));
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
  return taken.replayed ? replayAnswer(reply, taken) : sendText(reply.code(taken.status), taken.answer);
}
