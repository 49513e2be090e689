import type { FastifyError } from 'fastify';
import { passingTrouble, type TroubleKind } from '../database/troubles.ts';
import { Problem } from './problems.ts';
import type { Reason } from './reasons/catalogue.ts';

/** The reasons of the framework's errors by their code. */
const FRAMEWORK_REASONS = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body.too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'body.not_json_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'body.wrong_length',
  FST_ERR_BAD_URL: 'request.bad_url',
} as const;

/** The reasons of the framework's and its plugins' other refusals, by the status that they ask for. */
const STATUS_REASONS: Readonly<Record<number, 'body.refused_size' | 'body.refused_type'>> = {
  413: 'body.refused_size',
  415: 'body.refused_type',
};

const DATABASE_REASONS = {
  away: 'database.away',
  busy: 'database.busy',
  conflict: 'database.conflict',
  full: 'database.full',
  'read-only': 'database.read_only',
} as const satisfies Record<TroubleKind, Reason>;

/**
 * Turns whatever was thrown into a problem: our own stay as they are, temporary troubles as unavailable, the framework's by their
 * code, others as internal.
 */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const trouble = passingTrouble(error);
  if (trouble) {
    const { kind, retryAfter } = trouble;
    return new Problem(DATABASE_REASONS[kind], {}, { retryAfter, cause: error });
  }
  const { code, statusCode } = error as FastifyError;
  const known = FRAMEWORK_REASONS[code as keyof typeof FRAMEWORK_REASONS];
  if (known) return new Problem(known, {}, { cause: error });
  if (statusCode !== undefined && statusCode < 500) {
    return new Problem(
      STATUS_REASONS[statusCode] ?? 'request.refused',
      { message: (error as Error).message },
      { cause: error },
    );
  }
  return new Problem('internal.unexpected', {}, { cause: error });
}
