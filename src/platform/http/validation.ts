import { Ajv, type ErrorObject } from 'ajv';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { nearestName, shownName } from './nearest.ts';
import { Problem } from './problems.ts';
import { type Fault, fault, type Reason } from './reasons/catalogue.ts';

const checks = { strict: false, removeAdditional: false, useDefaults: false, verbose: true } as const;
/** Bodies are checked as they are: no value is coerced into another type, filled in or removed. */
const asSent = new Ajv({ ...checks, coerceTypes: false });
const asSentThoroughly = new Ajv({ ...checks, coerceTypes: false, allErrors: true });
/** Path and query parameters are text and become the type that their schema asks for. */
const fromText = new Ajv({ ...checks, coerceTypes: true });

/** Maximum fields per error. */
const MAX_COMPLAINTS = 50;
/** Characters of a field's path in an answer: its names may be the client's own. */
const MAX_PATH = 200;

/** A compiled check, as fastify calls it: `errors` tells why the last value was refused. */
interface Check {
  (value: unknown): boolean;
  errors?: ErrorObject[] | null | undefined;
}

/**
 * A check of one value as the body of a route with this schema is checked; for bodies inside bodies.
 *
 * @returns a function that gives the value, or throws Problem invalid, naming the field
 */
export function bodyCheck<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  const check = onFirstUse(() => asSent.compile(schema));
  return value => {
    if (check(value)) return value as Static<Schema>;
    throw refusal(check.errors as ErrorObject[], 'body');
  };
}

/**
 * Has an application check requests against their schemas, and refuse them by naming the field.
 *
 * @param everyError whether the error of a body lists everything that is wrong with it, or only the first thing
 */
export function validateExactly(
  app: Pick<FastifyInstance, 'setValidatorCompiler' | 'setSchemaErrorFormatter'>,
  everyError: boolean,
): void {
  app.setValidatorCompiler(({ schema, httpPart }) =>
    onFirstUse(() => {
      if (httpPart === 'headers') return headersCheck(schema as HeadersSchema);
      if (httpPart !== 'body') return fromText.compile(schema as object);
      return everyError ? thoroughCheck(schema as object) : asSent.compile(schema as object);
    }),
  );
  app.setSchemaErrorFormatter((errors, part) => refusal(errors as unknown as ErrorObject[], part));
}

/** Compiles a check when its first value comes: compiling all at the start would be a fifth of the start. */
function onFirstUse(compile: () => Check): Check {
  let compiled: Check | undefined;
  const check: Check = value => {
    compiled ??= compile();
    const isValid = compiled(value);
    check.errors = compiled.errors;
    return isValid;
  };
  return check;
}

type HeadersSchema = { properties?: Record<string, { type?: string }> };

/**
 * A check of headers. Whole numbers are digits alone (RFC 9110, tus): coercion would also read 1e3, 0x10 and +5.
 */
function headersCheck(schema: HeadersSchema) {
  const check = fromText.compile(schema);
  const integers = Object.entries(schema.properties ?? {}).filter(([, { type }]) => type === 'integer');
  if (integers.length === 0) return check;
  const names = integers.map(([name]) => name);
  const checkAll: Check = value => {
    const headers = value as Record<string, unknown>;
    const wrong = names.find(name => name in headers && !/^[0-9]+$/.test(String(headers[name])));
    if (wrong === undefined) {
      const isValid = check(value);
      checkAll.errors = check.errors;
      return isValid;
    }
    checkAll.errors = [inDigits(wrong)];
    return false;
  };
  return checkAll;
}

/** The error of a whole number that is not written in digits. */
function inDigits(name: string): ErrorObject {
  return { keyword: 'digits', instancePath: `/${name}`, schemaPath: '', params: {} };
}

/**
 * A check that reports all errors. For a body with a list that is too long it reports only that, so that the number
 * of errors is bounded by the lengths that the schema allows.
 */
function thoroughCheck(schema: object): Check {
  const quick = asSent.compile(schema);
  let lengths: Check | undefined;
  let all: Check | undefined;
  const check: Check = value => {
    if (quick(value)) return true;
    lengths ??= asSent.compile(lengthsOf(schema));
    all ??= asSentThoroughly.compile(schema);
    const failed = lengths(value) ? all : lengths;
    if (failed === all) all(value);
    check.errors = failed.errors;
    return false;
  };
  return check;
}

const LENGTHS = ['maxItems', 'maxProperties'] as const;

/** Reduces a schema to the lengths of its lists and objects, at every depth except inside alternatives. */
function lengthsOf(schema: object): object {
  const keywords = schema as Record<string, unknown>;
  const lengths: Record<string, unknown> = {};
  for (const keyword of LENGTHS) if (keyword in keywords) lengths[keyword] = keywords[keyword];
  if (isObject(keywords.properties)) {
    lengths.properties = Object.fromEntries(
      Object.entries(keywords.properties).map(([name, property]) => [
        name,
        isObject(property) ? lengthsOf(property) : {},
      ]),
    );
  }
  for (const keyword of ['items', 'additionalProperties']) {
    const inside = keywords[keyword];
    if (isObject(inside)) lengths[keyword] = lengthsOf(inside);
  }
  return lengths;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The errors as a problem: its sentence is about the first field, its faults are one per field. */
function refusal(errors: readonly ErrorObject[], part: string): Problem {
  const refused = withoutAlternatives(errors).filter(({ propertyName }) => propertyName === undefined);
  const faults = new Map<string, Fault>();
  for (const error of refused.slice(0, MAX_COMPLAINTS)) {
    const fault = faultOf(error, part);
    const field = fault.parameters.field as string;
    if (!faults.has(field)) faults.set(field, fault);
  }
  return new Problem([...faults.values()]);
}

/**
 * For a value that fits none of several alternatives Ajv lists each one's errors and directly after them the one that
 * none fits. Only that one is kept, in one pass from the end.
 */
function withoutAlternatives(errors: readonly ErrorObject[]): ErrorObject[] {
  const kept: ErrorObject[] = [];
  let none: ErrorObject | undefined;
  for (const error of errors.toReversed()) {
    const inside =
      none &&
      error.instancePath.startsWith(none.instancePath) &&
      error.schemaPath !== none.schemaPath &&
      error.schemaPath.startsWith(none.schemaPath);
    if (inside) continue;
    kept.push(error);
    none = error.keyword === 'anyOf' ? error : undefined;
  }
  return kept.reverse();
}

/** The fault of an error, with the path of its field. */
function faultOf(error: ErrorObject, part: string): Fault {
  const { keyword, params } = error;
  const inside = error.instancePath
    .slice(1, 2 * MAX_PATH)
    .replaceAll('/', '.')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  const missing = keyword === 'required' ? String(params.missingProperty) : '';
  const whole = [inside, missing].filter(Boolean).join('.') || (part === 'body' ? 'the body' : part);
  const field = whole.slice(0, MAX_PATH);
  if (missing) return fault('validation.required', { field });
  if (keyword === 'additionalProperties') return unknownField(error, inside);
  if (keyword === 'propertyNames') {
    const key = JSON.stringify(params.propertyName).slice(0, 40);
    const { description = 'another text' } = error.schema as { description?: string };
    return fault('validation.key', { field, key, description });
  }
  const { reason, parameters } = ofValue(error);
  return { reason, parameters: { field, ...parameters } };
}

/** The fault of a field that the schema does not have. */
function unknownField({ params, parentSchema }: ErrorObject, inside: string): Fault {
  const known = Object.keys((parentSchema?.properties as object | undefined) ?? {});
  const unknown = String(params.additionalProperty);
  const subject = [inside, shownName(unknown)].filter(Boolean).join('.');
  const about = { subject, field: unknown.slice(0, MAX_PATH) };
  const nearest = nearestName(unknown, known);
  if (nearest !== undefined) return fault('validation.misspelt_field', { ...about, nearest });
  if (known.length === 0) return fault('validation.no_fields', about);
  return fault('validation.unknown_field', { ...about, known: known.join(', ') });
}

/** The types whose refusals have a reason of their own. */
const TYPE_REASONS = new Map<string, Reason>([
  ['string', 'validation.string'],
  ['integer', 'validation.integer'],
  ['number', 'validation.number'],
  ['boolean', 'validation.boolean'],
]);

/** A type of JSON in a sentence. */
function withArticle(type: string): string {
  if (type === 'null') return type;
  return `${/^[aeiou]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** Alternatives that are whole numbers, also written as strings, or null. */
const WHOLE_NUMBER = /^a whole number( or (a whole number as a string|null))*$/;

/**
 * The fault of a value, without its path. A schema whose pattern has a meaning of its own names the reason of its
 * refusal in `x-reason`.
 */
function ofValue({ keyword, params, schema, parentSchema, message = '' }: ErrorObject): Fault {
  const limit = Number(params.limit);
  const refused = (reason: Reason, parameters: Fault['parameters']): Fault => ({ reason, parameters });
  switch (keyword) {
    case 'minLength':
      return limit === 1 ? refused('validation.empty', {}) : refused('validation.too_short', { min: limit });
    case 'maxLength':
      return refused('validation.too_long', { max: limit });
    case 'minItems':
      return refused('validation.too_few_items', { min: limit });
    case 'maxItems':
      return refused('validation.too_many_items', { max: limit });
    case 'minProperties':
      return refused('validation.too_few_members', { min: limit });
    case 'maxProperties':
      return refused('validation.too_many_members', { max: limit });
    case 'minimum':
      return refused('validation.too_small', { min: limit });
    case 'maximum':
      return refused('validation.too_large', { max: limit });
    case 'exclusiveMinimum':
      return refused('validation.not_above', { limit });
    case 'exclusiveMaximum':
      return refused('validation.not_below', { limit });
    case 'uniqueItems':
      return refused('validation.duplicate_items', { second: params.j, first: params.i });
    case 'enum':
      return refused('validation.choice', { choices: (schema as unknown[]).join(', ') });
    case 'pattern': {
      const { pattern } = params as { pattern: string };
      if (pattern === '\\S') return refused('validation.blank', {});
      const { 'x-reason': reason } = parentSchema as { 'x-reason'?: Reason };
      return refused(reason ?? 'validation.pattern', { pattern });
    }
    case 'type': {
      const types: string[] = [params.type].flat();
      const [only, ...others] = types.filter(type => type !== 'null');
      const reason = others.length === 0 && only !== undefined ? TYPE_REASONS.get(only) : undefined;
      return refused(reason ?? 'validation.type', { type: types.map(withArticle).join(' or ') });
    }
    case 'digits':
      return refused('validation.digits', {});
    case 'anyOf': {
      const type = alternatives(schema);
      return refused(WHOLE_NUMBER.test(type) ? 'validation.integer' : 'validation.type', { type });
    }
    default:
      return refused('validation.schema', { message });
  }
}

function alternatives(schema: unknown): string {
  return (schema as { const?: unknown; title?: string; type?: string }[])
    .map(option => option.const ?? option.title ?? (option.type ? withArticle(option.type) : 'another shape'))
    .join(' or ');
}
