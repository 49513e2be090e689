import { batchLoader } from '../../../platform/concurrency/batch-loader.ts';
import type { Database } from '../../../platform/database/database.ts';
import {
  COMMITTED_POSITION,
  positionIn,
  walPositionText,
} from '../../../platform/database/replicas/wal-position.ts';
import type { Server } from '../../../platform/http/server.ts';
import { POSITION_HEADER } from './schemas.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers 201 after a batch of the batch writer that stored the request's packet. */
    storesInBatch?: boolean;
  }
}

/** Methods that change nothing. */
const READING = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The latest position after a commit that this process knows of. */
export interface WritePositions {
  /** Takes the position after a batch, before the requests of the batch are answered. */
  note(position: bigint): void;
  /** Forgets it, because another server has become the primary. */
  reset(): void;
}

/**
 * Adds Fieldtrace-Position to the answers to changes. Packets are stored in batches, whose transactions return the
 * position; for other changes, which are rarer, and for repeated ones, the primary is queried once for all answers that
 * are due. If the query fails, the answer has no position.
 */
export function reportPositions(app: Server, primary: Database): WritePositions {
  let latest: bigint | undefined;
  const readPosition = batchLoader<'position', bigint>(
    async () => [positionIn(await primary.query(COMMITTED_POSITION))],
    { max: 1 },
  );

  app.addHook('onSend', async (request, reply) => {
    const { storesInBatch, keyScope } = request.routeOptions.config;
    const isRead = READING.has(request.method) || keyScope === 'read';
    if (isRead || reply.statusCode >= 300) return;
    const isFromBatch = storesInBatch && reply.statusCode === 201 && !reply.hasHeader('idempotency-replayed');
    try {
      const position = (isFromBatch && latest) || (await readPosition('position'));
      reply.header(POSITION_HEADER, walPositionText(position));
    } catch (error) {
      request.log.debug({ err: error }, 'the log position of a change is unknown');
    }
  });

  return {
    note(position) {
      if (latest === undefined || position > latest) latest = position;
    },
    reset() {
      latest = undefined;
    },
  };
}
