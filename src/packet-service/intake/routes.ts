import type pg from 'pg';
import type { Server } from '../../platform/server.ts';
import type { GeoidResolver } from '../geoids/resolver.ts';
import { earlierAnswer, readKey, sameRequest, sendAgain } from '../idempotency/idempotency.ts';
import type { BatchWriter } from '../packets/batch-writer.ts';
import { MAX_PACKET_BYTES } from '../packets/packet.ts';
import { newUlid } from '../packets/ulid.ts';
import { scoutingSchema } from './schemas.ts';
import { readObservation } from './scouting.ts';

/** Taking observations from the field. */
export function registerIntake(
  app: Server,
  { pool, writer, resolver }: { pool: pg.Pool; writer: BatchWriter; resolver: GeoidResolver },
): void {
  app.post(
    '/intake/scouting',
    { schema: scoutingSchema, bodyLimit: MAX_PACKET_BYTES },
    async (request, reply) => {
      const key = readKey(request);
      const earlier = await earlierAnswer(pool, key);
      if (earlier) return sendAgain(reply, earlier);

      const id = newUlid();
      const language = request.headers['content-language'];
      const packet = await readObservation(resolver, id, request.body, language);
      const answer = { packet_uuid: id };
      const claim = key && { ...key, status: 201, answer: JSON.stringify(answer) };
      const outcome = await writer.write({ packet, freshId: true, claim });
      if (outcome.kind === 'key-exists' && key) return sendAgain(reply, sameRequest(key, outcome.answer));
      return reply.code(201).send(answer);
    },
  );
}
