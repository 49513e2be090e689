/** A failed request, in one shape for both services. */
export class Failure extends Error {
  /** HTTP status; 0 if there was no answer */
  readonly status: number;
  /** errors by the path of the field */
  readonly fields: Record<string, string>;
  /** seconds after which to try again, if the service says so */
  readonly retryAfter: number | undefined;

  constructor(message: string, status: number, fields: Record<string, string> = {}, retryAfter?: number) {
    super(message);
    this.name = 'Failure';
    this.status = status;
    this.fields = fields;
    this.retryAfter = retryAfter;
  }
}

/** Reads the error body of either service: {error}, or the envelope of the trace backend. */
export function failureOf(body: unknown, status: number, retryAfter: string | null = null): Failure {
  const { error, errorMessage, validationErrorDetails } = (typeof body === 'object' && body ? body : {}) as {
    error?: unknown;
    errorMessage?: unknown;
    validationErrorDetails?: { fieldErrors?: Record<string, string> };
  };
  const message = [errorMessage, error].find(text => typeof text === 'string') as string | undefined;
  const seconds = retryAfter === null || !/^\d+$/.test(retryAfter) ? undefined : Number(retryAfter);
  return new Failure(message ?? `HTTP ${status}`, status, validationErrorDetails?.fieldErrors ?? {}, seconds);
}
