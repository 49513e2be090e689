import { parentPort } from 'node:worker_threads';
import { Problem } from '../../../platform/http/problems.ts';
import { survey } from './survey.ts';
import type { SurveyAnswer, SurveyRequest } from './surveyor.ts';

// The worker thread of surveyor.ts.
parentPort?.on('message', ({ id, geometry, path, withCovers }: SurveyRequest) => {
  parentPort?.postMessage(answer(id, () => survey(geometry, path, withCovers)));
});

function answer(id: number, work: () => SurveyAnswer['survey']): SurveyAnswer {
  try {
    return { id, survey: work() };
  } catch (error) {
    if (error instanceof Problem) {
      return { id, faults: error.faults };
    }
    return { id, error: error as Error };
  }
}
