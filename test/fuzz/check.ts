import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonSchema } from '../helpers/definition.ts';
import type { FuzzAnswer, FuzzRequest } from './requests.ts';

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

/** The shape of a service's errors. */
export type ErrorShape = (body: unknown) => boolean;

export const packetError: ErrorShape = body => {
  const { error, ...rest } = body as Record<string, unknown>;
  return typeof error === 'string' && error !== '' && Object.keys(rest).length === 0;
};

export const traceError: ErrorShape = body => {
  const { status, errorMessage, data } = body as Record<string, unknown>;
  return (
    typeof status === 'string' && status !== 'OK' && typeof errorMessage === 'string' && data === undefined
  );
};

/** What an answer breaks of what every answer promises; undefined when it is as it should be. */
export function faultOf(
  { operation }: FuzzRequest,
  answer: FuzzAnswer,
  isError: ErrorShape,
): string | undefined {
  const { status, type, body } = answer;
  if (status >= 500) return `a failure: ${body.toString().slice(0, 300)}`;
  if (status === 304 || operation.method === 'HEAD') return undefined;
  if (status >= 400) return errorFault(type, body, isError);
  if (status >= 300) return `a redirect`;
  const described = operation.responses[String(status)];
  if (!described) return `status ${status} is not in the definition`;
  if (Object.keys(described).length === 0)
    return body.length === 0 ? undefined : 'a body where there is none';
  const schema =
    described[type] ?? described[`${type.split('/')[0]}/*`] ?? described['application/octet-stream'];
  if (schema === undefined) return `media type ${type} is not in the definition`;
  return schemaFault(type, schema, body);
}

function errorFault(type: string, body: Buffer, isError: ErrorShape): string | undefined {
  if (type !== 'application/json') return `an error as ${type}`;
  const parsed = JSON.parse(body.toString()) as unknown;
  return isError(parsed) ? undefined : `an error of another shape: ${body.toString().slice(0, 300)}`;
}

function schemaFault(type: string, schema: JsonSchema, body: Buffer): string | undefined {
  const isLines = type === 'application/x-ndjson';
  if (!isLines && !/[/+]json$/.test(type)) return undefined;
  const texts = isLines
    ? body
        .toString()
        .split('\n')
        .filter(line => line !== '')
    : [body.toString()];
  const validate = validator(schema);
  for (const text of texts) {
    if (!validate(JSON.parse(text))) return `${ajv.errorsText(validate.errors)} in ${text.slice(0, 300)}`;
  }
  return undefined;
}
