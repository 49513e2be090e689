import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonSchema, Operation } from '../helpers/definition.ts';
import type { WireAnswer } from './wire.ts';

const ajv = new Ajv({ strict: false, validateFormats: false });
const compiled = new Map<object, ValidateFunction>();

function validator(schema: object): ValidateFunction {
  let validate = compiled.get(schema);
  if (!validate) {
    validate = ajv.compile(schema);
    compiled.set(schema, validate);
  }
  return validate;
}

/** Whether a body has the shape of a service's errors. */
export type ErrorShape = (body: unknown) => boolean;

export const packetError: ErrorShape = body => {
  const { error, ...rest } = body as Record<string, unknown>;
  return typeof error === 'string' && error !== '' && Object.keys(rest).length === 0;
};

export const traceError: ErrorShape = body => {
  const { status, errorMessage, validationErrorDetails, ...rest } = body as Record<string, unknown>;
  const isStatus = typeof status === 'string' && status !== '' && status !== 'OK';
  const isMessage = typeof errorMessage === 'string' && errorMessage !== '';
  const { fieldErrors = {} } = (validationErrorDetails ?? {}) as { fieldErrors?: object };
  const areSentences = Object.values(fieldErrors).every(text => typeof text === 'string' && text !== '');
  return isStatus && isMessage && areSentences && Object.keys(rest).length === 0;
};

/** Refusals of HTTP itself, which any address can answer, also one that leads nowhere. */
const ANYWHERE = [400, 404, 405, 406, 408, 413, 414, 415, 417, 421, 429, 431];

/** The promise that an answer breaks; undefined if it is correct. */
export function faultOf(
  { method, responses }: Pick<Operation, 'method' | 'responses'>,
  { status, type, body }: WireAnswer,
  isError: ErrorShape,
): string | undefined {
  const shown = () => body.toString().slice(0, 300);
  if (status >= 500) return `a failure: ${shown()}`;
  if (status >= 400 && !ANYWHERE.includes(status) && !responses[String(status)]) {
    return `status ${status} is not in the definition: ${shown()}`;
  }
  if (status >= 400 && type === 'text/html' && isForPeople(responses)) {
    return method === 'HEAD' || body.toString().startsWith('<!doctype html>')
      ? undefined
      : `no page: ${shown()}`;
  }
  if (status >= 400 && method !== 'HEAD') {
    return errorFault(type, body, isError) && `${errorFault(type, body, isError)}: ${shown()}`;
  }
  if (status >= 400) return undefined;
  const described = responses[String(status)];
  if (!described) return `status ${status} is not in the definition`;
  if (method === 'HEAD' || Object.keys(described).length === 0) {
    return body.length === 0 ? undefined : 'a body where there is none';
  }
  const schema = described[type] ?? described[`${type.split('/')[0]}/*`] ?? described['*/*'];
  if (schema === undefined) return `media type ${type} is not in the definition`;
  return schemaFault(type, schema, body.toString());
}

/** Whether failures of an operation are pages for clients that prefer them. */
function isForPeople(responses: Operation['responses']): boolean {
  return Object.entries(responses).some(([status, types]) => status.startsWith('4') && 'text/html' in types);
}

function errorFault(type: string, body: Buffer, isError: ErrorShape): string | undefined {
  if (type !== 'application/json') return `an error as ${type}`;
  const parsed = parse(body.toString());
  if (typeof parsed !== 'object' || parsed === null) return 'an error that is no object';
  return isError(parsed) ? undefined : 'an error of another shape';
}

function schemaFault(type: string, schema: JsonSchema, text: string): string | undefined {
  const isLines = type === 'application/x-ndjson';
  if (!isLines && !/[/+]json$/.test(type)) return undefined;
  const validate = validator(schema);
  for (const part of isLines ? text.split('\n').slice(0, -1) : [text]) {
    const parsed = parse(part);
    if (parsed === undefined) return `no JSON: ${part.slice(0, 300)}`;
    if (!validate(parsed)) return `${ajv.errorsText(validate.errors)} in ${part.slice(0, 300)}`;
  }
  return isLines && text !== '' && !text.endsWith('\n') ? 'the last line does not end' : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
