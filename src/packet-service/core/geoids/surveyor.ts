import { Worker } from 'node:worker_threads';
import { countPositions } from '../../../geometry/boundary.ts';
import type { Pace } from '../../../platform/concurrency/pacer.ts';
import { Problem } from '../../../platform/http/problems.ts';
import type { Fault } from '../../../platform/http/reasons/catalogue.ts';
import { type Survey, survey } from './survey.ts';

/** Boundaries up to this many positions are read on the event loop; larger ones would block other requests. */
const FEW_POSITIONS = 500;
/** Approximate microseconds to read a position, check it and cover its edge with cells. */
const POSITION_COST = 15;
/** Maximum large boundaries that wait for the thread; it reads one in about 0.1 s. */
const MAX_WAITING = 200;
/** Megabytes of the thread's heap. */
const MAX_HEAP = 256;

export interface SurveyRequest {
  id: number;
  geometry: unknown;
  path: string;
  withCovers: boolean;
}

/** Has exactly one of survey, faults and error. */
export interface SurveyAnswer {
  id: number;
  survey?: Survey;
  /** of the Problem that the survey threw */
  faults?: readonly Fault[];
  error?: Error;
}

/** Reads boundaries that clients send without blocking other requests. */
export interface Surveyor {
  /**
   * @param path the geometry's path in the request
   * @param withCovers whether the cells by which a field is found are needed
   * @throws Problem invalid, naming `path`; unavailable when too many large boundaries wait
   */
  survey(geometry: unknown, path: string, withCovers: boolean): Promise<Survey>;
  /** Ends the thread. */
  close(): Promise<void>;
}

/**
 * Small boundaries are read on the event loop, turn by turn, large ones in a thread, which the first of them starts.
 */
export function openSurveyor(pace: Pace): Surveyor {
  let thread: ReturnType<typeof startThread> | undefined;
  return {
    async survey(geometry, path, withCovers) {
      const positions = countPositions(geometry);
      if (positions <= FEW_POSITIONS) {
        await pace(positions * POSITION_COST);
        return survey(geometry, path, withCovers);
      }
      thread ??= startThread(() => {
        thread = undefined;
      });
      return thread.request({ geometry, path, withCovers });
    },
    async close() {
      await thread?.end();
    },
  };
}

/** @param onEnd called when the thread has ended, for whatever reason */
function startThread(onEnd: () => void) {
  const worker = new Worker(new URL('./survey-worker.ts', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP },
  });
  const waiting = new Map<number, PromiseWithResolvers<Survey>>();
  let count = 0;
  let failure = new Error('the thread that reads boundaries has ended');
  // It does not keep the process alive.
  worker.unref();
  worker.on('message', ({ id, survey, faults, error }: SurveyAnswer) => {
    const pending = waiting.get(id);
    waiting.delete(id);
    if (survey) pending?.resolve(survey);
    else pending?.reject(faults ? new Problem(faults) : error);
  });
  worker.on('error', error => {
    failure = error as Error;
  });
  worker.on('exit', () => {
    onEnd();
    for (const { reject } of waiting.values()) reject(failure);
  });

  return {
    async request(request: Omit<SurveyRequest, 'id'>): Promise<Survey> {
      if (waiting.size >= MAX_WAITING) {
        throw new Problem('field.too_many_boundaries', {}, { retryAfter: 5 });
      }
      const pending = Promise.withResolvers<Survey>();
      const id = ++count;
      waiting.set(id, pending);
      worker.postMessage({ id, ...request } satisfies SurveyRequest);
      return pending.promise;
    },
    end: () => worker.terminate(),
  };
}
