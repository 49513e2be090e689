import { setTimeout as wait } from 'node:timers/promises';
import type { Server } from '../http/server.ts';

/** Time between two looks, in milliseconds. */
export const SAMPLE_MS = 15_000;

/**
 * Looks at something in the background while a server listens, so that a scrape neither waits for it nor causes it.
 *
 * @returns what was seen last; undefined before the first look and after one that failed
 */
export function sampled<Value>(
  app: Server,
  look: () => Promise<Value>,
  everyMs = SAMPLE_MS,
): () => Value | undefined {
  const stopping = new AbortController();
  let known: Value | undefined;
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      known = await look().catch(() => undefined);
      await wait(everyMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }
  app.addHook('onListen', async () => {
    run();
  });
  app.addHook('preClose', async () => stopping.abort());
  return () => known;
}
