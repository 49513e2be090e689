import { parseList } from 'structured-headers';

/** The failure of a request, as a service reports it. */
export interface Fault {
  /** the reason's name; undefined from what is none of our services, such as a proxy before them */
  reason?: string | undefined;
  parameters: Readonly<Record<string, string | number>>;
  /** in English */
  sentence: string;
}

/** A failed request, in one shape for both services; also what the console itself finds wrong with an input. */
export class Failure extends Error {
  /** HTTP status; 0 if there was no answer */
  readonly status: number;
  /** why; a text of the console's own is in its language */
  readonly fault: Fault | string;
  /** what is wrong by the path of the field */
  readonly fields: Readonly<Record<string, Fault | string>>;
  /** what else is wrong that is about no field, such as the lines of a file */
  readonly further: readonly Fault[];
  /** seconds after which to try again, if the service says so */
  readonly retryAfter: number | undefined;

  constructor(
    fault: Fault | string,
    status: number,
    fields: Readonly<Record<string, Fault | string>> = {},
    retryAfter?: number,
    further: readonly Fault[] = [],
  ) {
    super(typeof fault === 'string' ? fault : fault.sentence);
    this.name = 'Failure';
    this.status = status;
    this.fault = fault;
    this.fields = fields;
    this.retryAfter = retryAfter;
    this.further = further;
  }

  /** The name of the reason, if a service of ours gave one. */
  get reason(): string | undefined {
    return typeof this.fault === 'string' ? undefined : this.fault.reason;
  }
}

type Reason = Pick<Fault, 'reason' | 'parameters'>;

/** Reads the error body of either service: {error}, or the envelope of the trace backend; and the header of reasons. */
export function failureOf(body: unknown, { status, headers }: Pick<Response, 'status' | 'headers'>): Failure {
  const { error, errorMessage, validationErrorDetails } = (typeof body === 'object' && body ? body : {}) as {
    error?: unknown;
    errorMessage?: unknown;
    validationErrorDetails?: { fieldErrors?: Record<string, string>; fieldReasons?: Record<string, Reason> };
  };
  const sentence = [errorMessage, error].find(text => typeof text === 'string') as string | undefined;
  const reasons = reasonsIn(headers.get('fieldtrace-reason'));
  const fault = { parameters: {}, ...reasons[0], sentence: sentence ?? `HTTP ${status}` };
  const retryAfter = headers.get('retry-after') ?? '';
  const { fieldErrors, fieldReasons } = validationErrorDetails ?? {};
  const fields = fieldErrors
    ? Object.entries(fieldErrors).map(([path, text]) => [
        path,
        { parameters: {}, ...fieldReasons?.[path], sentence: text },
      ])
    : reasons.flatMap(reason =>
        status === 400 && reason.parameters.field !== undefined
          ? [[reason.parameters.field, { ...reason, sentence: fault.sentence }]]
          : [],
      );
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  const further = reasons
    .slice(1)
    .flatMap(reason => (reason.parameters.field === undefined ? [{ ...reason, sentence: '' }] : []));
  return new Failure(fault, status, Object.fromEntries(fields), seconds, further);
}

/** The reasons in a header, which is a List of RFC 9651; none if it cannot be read. */
function reasonsIn(header: string | null): Reason[] {
  try {
    return parseList(header ?? '').map(([item, parameters]) => ({
      reason: String(item),
      parameters: Object.fromEntries(
        [...parameters].map(([name, value]) => [name, typeof value === 'number' ? value : String(value)]),
      ),
    }));
  } catch {
    return [];
  }
}
