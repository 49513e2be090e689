import { setTimeout as sleep } from 'node:timers/promises';
import type { BackupContext } from './context.ts';
import { readSpool } from './spool.ts';
import type { BackupStatus } from './status.ts';

/** How often it is looked what is known, in milliseconds. */
export const LOOK_MS = 2000;
/** Interval of checks whether the server archives, and how far, in milliseconds. */
const ASK_MS = 10_000;

/** Looks at the state that the working process notes, for all processes. */
export async function repeatLook(
  look: () => Promise<BackupStatus>,
  signal: AbortSignal,
  onStatus: (status: BackupStatus) => void,
): Promise<void> {
  while (!signal.aborted) {
    await look().then(onStatus, () => {});
    await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => {});
  }
}

/** Makes a function that looks at the state of backups. */
export function looker({ state, server }: BackupContext): () => Promise<BackupStatus> {
  let archives = true;
  let unarchivedSegments = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (server && performance.now() - readAt > ASK_MS) {
      readAt = performance.now();
      archives = await server.archives();
      unarchivedSegments = (await server.archiver()).waiting;
    }
    const [instance, base, verified, shipped, trouble, spool] = await Promise.all([
      state.instance(),
      state.read('base'),
      state.read('verified'),
      state.read('shipped'),
      state.read('health'),
      server ? readSpool(server.spool) : { segments: [], oldest: undefined },
    ]);
    const waiting = { waitingSince: spool.oldest, waitingSegments: spool.segments.length };
    return { instance, base, verified, shipped, trouble, archives, unarchivedSegments, ...waiting };
  };
}
