import type { FastifyBaseLogger } from 'fastify';
import type pg from 'pg';
import { type BatchWatch, type BatchWriter, batchWriter } from './batch-writer.ts';
import type { UntilComplete } from './broken-commits.ts';
import type { PacketWrite } from './write-store.ts';

/** The hooks of a service around its batches. */
export interface WriterContext {
  /** connections that write at the same time */
  connections: number;
  logger: FastifyBaseLogger;
  /** observes batches, for metrics, traces and the positions of commits */
  watch?: BatchWatch;
  /** called for each write after its commit, before its request continues */
  onWritten(write: PacketWrite): void;
  /** for an id or a key that exists: a cluster may hide for a moment what has it */
  untilComplete: UntilComplete;
}

/**
 * The writer of a service: batches, then the listener, then the wait for what a broken commit hides.
 *
 * @param pool connections in pipeline mode, one per pipeline
 */
export function openWriter(
  pool: pg.Pool,
  { connections, logger, watch, onWritten, untilComplete }: WriterContext,
): BatchWriter {
  const writer = batchWriter(pool, connections, logger, watch);
  return {
    ...writer,
    async write(write, since) {
      const outcome = await writer.write(write, since);
      onWritten(write);
      if (outcome.kind === 'id-exists' || outcome.kind === 'key-exists') await untilComplete();
      return outcome;
    },
  };
}
