import type pg from 'pg';

/** Batches on their way in one lane, at most: the one that is being written, and the one that the server takes next. */
const MAX_BATCHES = 2;

/** A connection while batches are on their way on it. */
export interface Lane {
  connection: Promise<pg.PoolClient>;
  batches: number;
  /** whether nothing of its batches waits for an answer in between, so that another can be sent behind them */
  oneWay: boolean;
  /** set when one of its batches failed */
  failed: boolean;
}

/** The lanes that batches are written in. */
export interface Lanes {
  /** whether another connection may write */
  hasRoom(): boolean;
  /** whether a batch that goes one way can be sent behind another */
  takesAnother(): boolean;
  /** Puts a batch into a lane: behind another where that can be, else into one of its own. */
  enter(oneWay: boolean): Lane;
  /** Takes a batch out of its lane. The last one gives the connection back, or closes it after a failure. */
  leave(lane: Lane): void;
}

/**
 * A lane is a connection in pipeline mode. A batch that goes one way may be sent while another is still being written:
 * the server begins with it at once, where it would otherwise wait until we have read its answer, told the clients,
 * and put the next batch together.
 *
 * After a failure nothing more is sent: statements that the connection would have parsed in the failed transaction are
 * missing, and a transaction may still be open.
 *
 * @param max lanes at the same time
 */
export function openLanes(pool: pg.Pool, max: number): Lanes {
  const lanes = new Set<Lane>();

  function open(): Lane | undefined {
    for (const lane of lanes) if (lane.oneWay && !lane.failed && lane.batches < MAX_BATCHES) return lane;
    return undefined;
  }

  return {
    hasRoom: () => lanes.size < max,
    takesAnother: () => open() !== undefined,
    enter(oneWay) {
      const lane = (oneWay && open()) || { connection: pool.connect(), batches: 0, oneWay, failed: false };
      lanes.add(lane);
      lane.batches++;
      return lane;
    },
    leave(lane) {
      lane.batches--;
      if (lane.batches > 0) return;
      lanes.delete(lane);
      lane.connection.then(
        connection => connection.release(lane.failed),
        () => {},
      );
    },
  };
}
