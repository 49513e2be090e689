import { setTimeout as sleep } from 'node:timers/promises';
import { LOOK_MS } from './read-status.ts';
import type { Troubles } from './troubles.ts';
import type { BackupWork } from './work.ts';

/** How often the spool is looked at, in milliseconds. */
const TICK_MS = 500;
/** Interval of checks whether the server can archive, in milliseconds. */
const ARCHIVER_MS = 5000;
/** Pauses after failures, in milliseconds. */
const PAUSE_MS = { first: 1000, longest: 10_000, longestOfBases: 10 * 60_000 };

/** Work that is repeated by the process that holds the lock. */
export interface Loop {
  what: string;
  run: () => Promise<unknown>;
  /** until the next time, by how long this one took */
  pauseMs: (tookMs: number) => number;
  longestMs: number;
}

/** Everything that a process repeats which does the backups. */
export function makeLoops(work: BackupWork): { wal: Loop[]; rest: Loop[] } {
  const { longest, longestOfBases } = PAUSE_MS;
  return {
    wal: [
      { what: work.SHIPPING, run: () => work.ship(), pauseMs: () => TICK_MS, longestMs: longest },
      { what: work.CLOSING, run: work.closeSegment, pauseMs: work.closingPauseMs, longestMs: longest },
      { what: 'limiting the spool', run: work.limitSpool, pauseMs: () => TICK_MS, longestMs: longest },
    ],
    rest: [
      { what: work.ARCHIVING, run: work.checkArchiver, pauseMs: () => ARCHIVER_MS, longestMs: longest },
      { what: work.FILES, run: work.shipFiles, pauseMs: work.filesPauseMs, longestMs: longest },
      { what: 'the base backup', run: work.takeBaseIfDue, pauseMs: () => LOOK_MS, longestMs: longestOfBases },
    ],
  };
}

/** Repeats work until the process stops. */
export async function repeat(
  { what, run, pauseMs, longestMs }: Loop,
  { isMine, troubles, signal }: { isMine: () => Promise<boolean>; troubles: Troubles; signal: AbortSignal },
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    let pause: number;
    try {
      const began = performance.now();
      const mine = await isMine();
      if (mine) await run();
      pause = mine ? pauseMs(performance.now() - began) : LOOK_MS;
      failures = 0;
      await troubles.over(what);
    } catch (error) {
      if (signal.aborted) return;
      pause = Math.min(PAUSE_MS.first * 2 ** failures++, longestMs);
      await troubles.report(what, error as Error);
    }
    await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
  }
}
