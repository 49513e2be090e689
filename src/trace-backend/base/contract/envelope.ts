import type { TSchema } from 'typebox';
import type { Problem } from '../../../platform/http/problems.ts';
import type { Fault } from '../../../platform/http/reasons/catalogue.ts';
import type { ProblemCode } from '../../../platform/http/reasons/reason.ts';
import { named } from '../../../platform/http/shared-parts.ts';
import { Type } from '../../../platform/type.ts';

/** The envelope's status of each problem; a problem with fields is a VALIDATION_ERROR. */
const statusOf: Record<ProblemCode, string> = {
  invalid: 'INVALID_REQUEST',
  unreadable: 'REQUEST_BODY_ERROR',
  unauthenticated: 'AUTH_ERROR',
  forbidden: 'UNAUTHORIZED',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'INVALID_REQUEST',
  not_acceptable: 'INVALID_REQUEST',
  request_timeout: 'INVALID_REQUEST',
  conflict: 'INVALID_REQUEST',
  gone: 'NOT_FOUND',
  precondition_failed: 'INVALID_REQUEST',
  too_large: 'REQUEST_BODY_ERROR',
  unsupported_media_type: 'REQUEST_BODY_ERROR',
  range_not_satisfiable: 'INVALID_REQUEST',
  misdirected: 'INVALID_REQUEST',
  too_many_requests: 'TOO_MANY_REQUESTS',
  headers_too_large: 'INVALID_REQUEST',
  internal: 'ERROR',
  not_implemented: 'ERROR',
  unavailable: 'UPSTREAM_HTTP_ERROR',
};

/** The body of every failed call. */
export function failure(problem: Problem): object {
  const { code, message, fields, faults } = problem;
  const status = code === 'invalid' && fields ? 'VALIDATION_ERROR' : statusOf[code];
  if (!fields) return { status, errorMessage: message };
  const validationErrorDetails = { fieldErrors: fields, fieldReasons: reasonsByField(faults) };
  return { status, errorMessage: message, validationErrorDetails };
}

/** The reason of each field that has a sentence, with its parameters. */
function reasonsByField(faults: readonly Fault[]): Record<string, Fault> {
  // Without a prototype: fields may be called toString or __proto__.
  const reasons: Record<string, Fault> = Object.create(null);
  for (const fault of faults) {
    const { field } = fault.parameters;
    if (field !== undefined) reasons[field] ??= fault;
  }
  return reasons;
}

/** The body of a successful call; without data if there is none. */
export function ok<Data>(data: Data): { status: 'OK'; data: Data } {
  return { status: 'OK', data };
}

/** Schema of the envelope around some data. */
export function envelope<Data extends TSchema>(data: Data, description: string) {
  return Type.Object({ status: Type.Literal('OK'), data }, { description });
}

/** The answer of a call that returns nothing. */
export const Done = Type.Object({ status: Type.Literal('OK') }, { description: 'done' });

const failed = (description: string, status: string, errorMessage: string) =>
  named(
    'Failure',
    Type.Object(
      {
        status: Type.String({ description: 'kind of failure' }),
        errorMessage: Type.String({ description: 'the error, as a sentence' }),
        validationErrorDetails: Type.Optional(
          Type.Object({
            fieldErrors: Type.Record(Type.String(), Type.String(), {
              description: 'errors by the path of the field',
            }),
            fieldReasons: Type.Record(
              Type.String(),
              Type.Object({
                reason: Type.String(),
                parameters: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
              }),
              { description: 'reasons by the path of the field, for programs' },
            ),
          }),
        ),
      },
      { description, examples: [{ status, errorMessage }] },
    ),
  );

/** The failures of routes, for their `response` schemas. */
export const failures = {
  400: failed(
    'VALIDATION_ERROR: a field is wrong; REQUEST_BODY_ERROR: not JSON; INVALID_REQUEST: not possible',
    'INVALID_REQUEST',
    'this address is already registered',
  ),
  401: failed('AUTH_ERROR: not logged in', 'AUTH_ERROR', 'log in first'),
  403: failed(
    'UNAUTHORIZED: logged in, but not allowed; or called from a page of another origin',
    'UNAUTHORIZED',
    'this is for an administrator',
  ),
  404: failed("NOT_FOUND: it doesn't exist, or you don't have access", 'NOT_FOUND', 'user not found'),
  409: failed(
    'INVALID_REQUEST: it conflicts with the current state',
    'INVALID_REQUEST',
    'the record has changed since',
  ),
  412: failed(
    'INVALID_REQUEST: the record has changed since it was read',
    'INVALID_REQUEST',
    'the record has changed since; read it again',
  ),
  413: failed(
    'REQUEST_BODY_ERROR: too large for this endpoint',
    'REQUEST_BODY_ERROR',
    'the body is too large',
  ),
  415: failed('REQUEST_BODY_ERROR: unsupported media type', 'REQUEST_BODY_ERROR', 'not a picture'),
  429: failed(
    'TOO_MANY_REQUESTS: Retry-After says when to retry',
    'TOO_MANY_REQUESTS',
    'too many failed logins; try again later',
  ),
  500: failed('ERROR: internal error; nothing was changed', 'ERROR', 'something went wrong on our side'),
  503: failed(
    "UPSTREAM_HTTP_ERROR: a system behind the service isn't responding; Retry-After says when to retry",
    'UPSTREAM_HTTP_ERROR',
    'the database is not responding; try again',
  ),
} as const;

/**
 * The failures of a route, for its `response` schema: those of every route, and the named ones. Routes that are not
 * open add 401. Calls from pages of other origins get 403, too.
 */
export function failureAnswers<Status extends keyof typeof failures>(...statuses: Status[]) {
  const all = [400 as const, 403 as const, 429 as const, 500 as const, 503 as const, ...statuses];
  return Object.fromEntries(all.map(status => [status, failures[status]])) as Pick<
    typeof failures,
    Status | 400 | 403 | 429 | 500 | 503
  >;
}
