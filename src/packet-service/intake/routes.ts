import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import { type Server, sendText } from '../../platform/server.ts';
import type { GeoidResolver } from '../geoids/resolver.ts';
import { readKey, sendAgain } from '../idempotency/idempotency.ts';
import type { BatchWriter } from '../packets/batch-writer.ts';
import { MAX_PACKET_BYTES } from '../packets/packet.ts';
import { scoutingSchema } from './schemas.ts';
import { readObservation } from './scouting.ts';
import { type IntakeAnswer, takePacket } from './take.ts';

/** Taking what comes from the field. */
export function registerIntake(
  app: Server,
  services: { pool: pg.Pool; writer: BatchWriter; resolver: GeoidResolver },
): void {
  const { resolver } = services;

  app.post(
    '/intake/scouting',
    { schema: scoutingSchema, bodyLimit: MAX_PACKET_BYTES },
    async (request, reply) => {
      const language = request.headers['content-language'];
      const taken = await takePacket(services, readKey(request), async id => ({
        packet: await readObservation(resolver, id, request.body, language),
      }));
      return sendTaken(reply, taken);
    },
  );
}

function sendTaken(reply: FastifyReply, taken: IntakeAnswer): FastifyReply {
  return taken.again ? sendAgain(reply, taken) : sendText(reply.code(taken.status), taken.answer);
}
