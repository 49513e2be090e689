import type { Logger } from 'pino';

/** Longest wait for an answer, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Requests BACKUP_PING_URL; a failure is logged and changes nothing. */
export async function ping(url: string | undefined, logger: Logger): Promise<void> {
  if (url === undefined) return;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'error' });
    await answer.body?.cancel();
    if (!answer.ok) throw new Error(`it returned ${answer.status}`);
  } catch (error) {
    logger.warn({ err: error }, 'could not request BACKUP_PING_URL');
  }
}
