import type { FastifyError } from 'fastify';
import { passingTrouble } from '../database/troubles.ts';
import { Problem } from './problems.ts';
import { type ProblemCode, problemStatus } from './reasons/reason.ts';

const frameworkProblems: Record<string, [ProblemCode, string]> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'the body is too large for this endpoint'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Content-Type must be application/json'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['invalid', 'Content-Length does not match the body'],
  FST_ERR_BAD_URL: ['invalid', 'the path is not a valid URL'],
};

/**
 * Turns whatever was thrown into a problem: our own stay as they are, temporary troubles as unavailable, the framework's by their
 * code, others as internal.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const trouble = passingTrouble(error);
  if (trouble) {
    const { message, retryAfter } = trouble;
    return new Problem('unavailable', `${message}; try again`, { retryAfter, cause: error });
  }
  const { code, statusCode } = error as FastifyError;
  const known = frameworkProblems[code];
  if (known) return new Problem(known[0], known[1], { cause: error });
  if (statusCode !== undefined && statusCode < 500) {
    const match = Object.entries(problemStatus).find(([, status]) => status === statusCode);
    return new Problem((match?.[0] as ProblemCode) ?? 'invalid', (error as Error).message, { cause: error });
  }
  return new Problem('internal', 'internal error; see the log of the service', { cause: error });
}
