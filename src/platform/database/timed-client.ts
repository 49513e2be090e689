import pg from 'pg';
import { statementName } from './statement-name.ts';

/** Called with the name of a statement that was slow, and how long it took in milliseconds. */
export type OnSlow = (statement: string, milliseconds: number) => void;

interface Statement {
  name?: string;
  text?: string;
}

/**
 * pg's client, which also measures for how long each statement is the one in flight: also in pipeline mode, where a
 * statement begins when the previous one has ended. It assigns `_activeQuery` when that changes (see deadlines.ts); to
 * observe the assignment costs two looks at the clock per statement, and no promise or timer.
 *
 * @param slowMs from which on a statement is slow, in milliseconds
 */
export function timedClient(slowMs: number, onSlow: OnSlow): typeof pg.Client {
  return class TimedClient extends pg.Client {
    declare inFlight: Statement | null | undefined;
    declare began: number;

    get _activeQuery(): Statement | null | undefined {
      return this.inFlight;
    }

    set _activeQuery(statement: Statement | null | undefined) {
      const { inFlight } = this;
      if (inFlight === statement) return;
      this.inFlight = statement;
      if (!inFlight && !statement) return;
      const now = performance.now();
      if (inFlight) {
        const milliseconds = now - this.began;
        if (milliseconds >= slowMs) onSlow(statementName(inFlight), milliseconds);
      }
      this.began = now;
    }
  };
}
