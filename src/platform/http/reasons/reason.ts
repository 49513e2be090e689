/** The ways in which a request can fail, and the HTTP status of each. */
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

/** The values that a parameter of a reason can have. */
export type ParameterValue = string | number;

/** Why a request fails, as the catalogue has it. */
export interface Definition<Code extends ProblemCode = ProblemCode, Text extends string = string> {
  /** decides the HTTP status */
  readonly code: Code;
  /** The sentence for the client, with the names of parameters in braces. */
  readonly text: Text;
  /** what to do about it, where the text does not say so; for docs/errors.md */
  readonly remedy: string | undefined;
}

const defining =
  <Code extends ProblemCode>(code: Code) =>
  <Text extends string>(text: Text, remedy?: string): Definition<Code, Text> => ({ code, text, remedy });

/** A function for each code that defines a reason with it. */
export const invalid = defining('invalid');
export const unreadable = defining('unreadable');
export const unauthenticated = defining('unauthenticated');
export const forbidden = defining('forbidden');
export const notFound = defining('not_found');
export const methodNotAllowed = defining('method_not_allowed');
export const notAcceptable = defining('not_acceptable');
export const requestTimeout = defining('request_timeout');
export const conflict = defining('conflict');
export const gone = defining('gone');
export const preconditionFailed = defining('precondition_failed');
export const tooLarge = defining('too_large');
export const unsupportedMediaType = defining('unsupported_media_type');
export const rangeNotSatisfiable = defining('range_not_satisfiable');
export const misdirected = defining('misdirected');
export const tooManyRequests = defining('too_many_requests');
export const headersTooLarge = defining('headers_too_large');
export const internal = defining('internal');
export const notImplemented = defining('not_implemented');
export const unavailable = defining('unavailable');

/** The names of the parameters in a text. */
export type NamesIn<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | NamesIn<Rest>
  : never;

/** The text of a reason with its parameters filled in. */
export function fillText(text: string, parameters: Readonly<Record<string, ParameterValue>>): string {
  return text.replaceAll(/\{([a-z0-9_]+)\}/g, (_, name: string) => String(parameters[name]));
}
