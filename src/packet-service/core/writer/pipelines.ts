import type pg from 'pg';

/** Maximum batches in flight on one connection: the one that is being written, and the one that the server starts next. */
const MAX_BATCHES = 2;

/** A connection in pipeline mode while batches are in flight on it. */
export interface Pipeline {
  connection: Promise<pg.PoolClient>;
  batches: number;
  /** whether its batches wait for no answer before their COMMIT, so that another can be sent behind them */
  pipelined: boolean;
  /** set when one of its batches failed */
  failed: boolean;
}

/** The connections that batches are written on. */
export interface Pipelines {
  /** whether another connection may write */
  hasRoom(): boolean;
  /** whether a pipelined batch can be sent behind another */
  takesAnother(): boolean;
  /** Assigns a batch to a connection: behind another batch if possible, else to a connection without one. */
  enter(pipelined: boolean): Pipeline;
  /** Removes a batch that has ended. The last one releases the connection, or closes it after a failure. */
  leave(pipeline: Pipeline): void;
}

/**
 * A pipelined batch may be sent while another is still being written: the server begins with it at once, where it would
 * otherwise wait until we have read its answer, answered the clients and assembled the next batch.
 *
 * After a failure nothing more is sent: statements that the connection would have parsed in the failed transaction are
 * missing, and a transaction may still be open.
 *
 * @param max connections at the same time
 */
export function openPipelines(pool: pg.Pool, max: number): Pipelines {
  const pipelines = new Set<Pipeline>();

  function open(): Pipeline | undefined {
    for (const pipeline of pipelines) {
      if (pipeline.pipelined && !pipeline.failed && pipeline.batches < MAX_BATCHES) return pipeline;
    }
    return undefined;
  }

  return {
    hasRoom: () => pipelines.size < max,
    takesAnother: () => open() !== undefined,
    enter(pipelined) {
      const pipeline = (pipelined && open()) || {
        connection: pool.connect(),
        batches: 0,
        pipelined,
        failed: false,
      };
      pipelines.add(pipeline);
      pipeline.batches++;
      return pipeline;
    },
    leave(pipeline) {
      pipeline.batches--;
      if (pipeline.batches > 0) return;
      pipelines.delete(pipeline);
      pipeline.connection.then(
        connection => connection.release(pipeline.failed),
        () => {},
      );
    },
  };
}
