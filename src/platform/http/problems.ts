/**
 * Every way a request can fail, once: the code that the program throws and the HTTP status it becomes. Each
 * service has one writer that turns a Problem into its own error body.
 */
export const problemStatus = {
  invalid: 400,
  unreadable: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  conflict: 409,
  gone: 410,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  misdirected: 421,
  too_many_requests: 429,
  headers_too_large: 431,
  internal: 500,
  not_implemented: 501,
  unavailable: 503,
} as const;

export type ProblemCode = keyof typeof problemStatus;

/** The details of a Problem besides its message. */
export interface ProblemDetails {
  /** Seconds after which the same request may succeed; becomes the Retry-After header. */
  retryAfter?: number;
  /** Messages by the path of the field they are about. */
  fields?: Record<string, string>;
  /** The cause, which is only logged. */
  cause?: unknown;
}

/** An expected failure. Its message is written for the client and names the field it is about. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly retryAfter: number | undefined;
  readonly fields: Record<string, string> | undefined;

  constructor(code: ProblemCode, message: string, details: ProblemDetails = {}) {
    super(message, { cause: details.cause });
    this.name = 'Problem';
    this.code = code;
    this.retryAfter = details.retryAfter;
    this.fields = details.fields;
  }

  /** The HTTP status that the catalogue gives this code. */
  get status(): number {
    return problemStatus[this.code];
  }
}
