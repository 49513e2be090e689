import { catalogue, type Fault, type Reason, type Rest, textOf } from './reasons/catalogue.ts';
import { type ProblemCode, problemStatus } from './reasons/reason.ts';

/** Details of a Problem other than its faults. */
export interface ProblemDetails {
  /** Seconds after which the same request may succeed; becomes the Retry-After header. */
  retryAfter?: number | undefined;
  /** The cause, which is only logged. */
  cause?: unknown;
}

/**
 * An expected failure: a reason of the catalogue with its parameters, or several faults of a body, of which the first
 * decides the sentence and the status. Each service has one writer that turns a Problem into its own error body.
 */
export class Problem<R extends Reason = Reason> extends Error {
  readonly code: ProblemCode;
  readonly faults: readonly Fault[];
  readonly retryAfter: number | undefined;
  /** The sentences by the field that they are about; undefined if none is about a field. */
  readonly fields: Readonly<Record<string, string>> | undefined;

  constructor(reason: R, ...rest: [...Rest<R>, details?: ProblemDetails]);
  constructor(faults: readonly Fault[], details?: ProblemDetails);
  constructor(why: R | readonly Fault[], second?: object, third?: ProblemDetails) {
    const isOne = typeof why === 'string';
    const faults = isOne ? [{ reason: why, parameters: second ?? {} } as Fault] : why;
    const details: ProblemDetails = (isOne ? third : second) ?? {};
    const [first] = faults as [Fault];
    super(textOf(first), { cause: details.cause });
    this.name = 'Problem';
    this.code = catalogue[first.reason].code;
    this.faults = faults;
    this.retryAfter = details.retryAfter;
    this.fields = fieldsOf(faults);
  }

  /** The HTTP status of the reason. */
  get status(): number {
    return problemStatus[this.code];
  }
}

/** The sentence about each field; of several about the same field the first counts. */
function fieldsOf(faults: readonly Fault[]): Record<string, string> | undefined {
  // Without a prototype: fields may be called toString or __proto__.
  const fields: Record<string, string> = Object.create(null);
  let hasFields = false;
  for (const fault of faults) {
    const { field } = fault.parameters;
    if (field === undefined) continue;
    fields[field] ??= textOf(fault);
    hasFields = true;
  }
  return hasFields ? fields : undefined;
}
