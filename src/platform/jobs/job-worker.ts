import type { JobWithMetadata, PgBoss } from 'pg-boss';
import { endsWithin } from '../concurrency/ends-within.ts';
import { wakeableWait } from '../concurrency/wakeable-wait.ts';

/** One attempt at a job. */
export interface Attempt<Data> {
  data: Data;
  /** 1 for the first attempt */
  number: number;
  /** of a dead letter: how often the job was attempted, and why the last attempt failed */
  ended?: { attempts: number; error: string };
  /** ends with the attempt's time, and when the process stops */
  signal: AbortSignal;
}

export interface JobWorker {
  /** Makes it fetch jobs now instead of at its next poll. */
  wake(): void;
  /** Stops fetching jobs; those in progress get some milliseconds to end, then they are returned to the queue. */
  stop(patienceMs: number): Promise<void>;
}

/** Poll interval of a worker, in milliseconds; jobs sent by its own process wake it at once. */
const POLL_MS = 2_000;

/**
 * Works on several jobs of one queue concurrently: a slow job occupies only its own slot. pg-boss's own workers
 * either poll once per slot, or wait for the slowest job of a batch before they fetch the next.
 *
 * @param concurrency jobs at once
 * @param handle one attempt; when it throws, the job is tried again as its rules say
 * @param report called with errors of the queue; the jobs concerned are retried later
 */
export function startWorker<Data>(
  boss: PgBoss,
  queue: string,
  concurrency: number,
  handle: (attempt: Attempt<Data>) => Promise<void>,
  report: (error: unknown) => void,
): JobWorker {
  const running = new Map<JobWithMetadata<Data>, { ended: Promise<void>; breakOff: AbortController }>();
  const rest = wakeableWait();
  let stopping = false;
  /** whether the last fetch filled all slots, so that more jobs may wait */
  let more = false;

  async function look(): Promise<void> {
    const slots = concurrency - running.size;
    if (slots === 0) return;
    const jobs = await boss.fetch<Data>(queue, { batchSize: slots, includeMetadata: true });
    more = jobs.length === slots;
    for (const job of jobs) begin(job);
  }

  function begin(job: JobWithMetadata<Data>): void {
    const breakOff = new AbortController();
    const ended = attempt(job, breakOff.signal)
      .catch(report)
      .finally(() => {
        running.delete(job);
        if (more) rest.wake();
      });
    running.set(job, { ended, breakOff });
  }

  async function attempt(job: JobWithMetadata<Data>, broken: AbortSignal): Promise<void> {
    const signal = AbortSignal.any([broken, AbortSignal.timeout(job.expireInSeconds * 1000)]);
    try {
      await orBrokenOff(
        handle({ data: job.data, number: job.retryCount + 1, ...endOf(job), signal }),
        signal,
      );
    } catch (error) {
      await boss.fail(queue, job, { message: (error as Error).message });
      return;
    }
    await boss.complete(queue, job);
  }

  const looking = (async () => {
    while (!stopping) {
      await look().catch(report);
      await rest.wait(POLL_MS);
      rest.reset();
    }
  })();

  return {
    wake: rest.wake,
    async stop(patienceMs) {
      stopping = true;
      rest.wake();
      await looking;
      const ended = Promise.all([...running.values()].map(({ ended }) => ended));
      await endsWithin(ended, patienceMs);
      const left = [...running];
      for (const [, { breakOff }] of left) breakOff.abort(new Error('the process stopped'));
      await Promise.all(left.map(([, { ended }]) => ended));
    },
  };
}

/** How the job of a dead letter ended. */
function endOf({
  sourceRetryCount,
  sourceOutput,
}: Pick<JobWithMetadata, 'sourceRetryCount' | 'sourceOutput'>): Pick<Attempt<unknown>, 'ended'> {
  if (sourceRetryCount === null) return {};
  // A job whose process was killed has no message of ours.
  const { message } = (sourceOutput ?? {}) as { message?: unknown };
  const error = typeof message === 'string' ? message : 'the attempts ended without an answer';
  return { ended: { attempts: sourceRetryCount + 1, error } };
}

/** Work that ends at the latest with its signal, even if it ignores it. */
function orBrokenOff(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}
