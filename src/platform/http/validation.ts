import { Ajv, type ErrorObject } from 'ajv';
import type { FastifyInstance } from 'fastify';
import type { Static, TSchema } from 'typebox';
import { unknownName } from './nearest.ts';
import { Problem } from './problems.ts';

const checks = { strict: false, removeAdditional: false, useDefaults: false, verbose: true } as const;
/** Bodies are checked as they are: no value is coerced into another type, filled in or removed. */
const asSent = new Ajv({ ...checks, coerceTypes: false });
const asSentThoroughly = new Ajv({ ...checks, coerceTypes: false, allErrors: true });
/** Path and query parameters are text and become the type that their schema asks for. */
const fromText = new Ajv({ ...checks, coerceTypes: true });

/** Fields in one error, at most. */
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
  const message = 'must be a whole number, written in digits';
  return { keyword: 'pattern', instancePath: `/${name}`, schemaPath: '', params: {}, message };
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

/** What a schema says about the lengths of lists and objects alone, at every depth but inside alternatives. */
function lengthsOf(schema: object): object {
  const given = schema as Record<string, unknown>;
  const lengths: Record<string, unknown> = {};
  for (const keyword of LENGTHS) if (keyword in given) lengths[keyword] = given[keyword];
  if (isObject(given.properties)) {
    lengths.properties = Object.fromEntries(
      Object.entries(given.properties).map(([name, property]) => [
        name,
        isObject(property) ? lengthsOf(property) : {},
      ]),
    );
  }
  for (const keyword of ['items', 'additionalProperties']) {
    const inside = given[keyword];
    if (isObject(inside)) lengths[keyword] = lengthsOf(inside);
  }
  return lengths;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What is wrong, as a problem: its sentence is about the first field, its fields hold a sentence for each. */
function refusal(errors: readonly ErrorObject[], part: string): Problem {
  // Without a prototype: fields may be called toString or __proto__.
  const fields: Record<string, string> = Object.create(null);
  const refused = withoutAlternatives(errors).filter(({ propertyName }) => propertyName === undefined);
  for (const error of refused.slice(0, MAX_COMPLAINTS)) {
    const { path, sentence } = complaint(error, part);
    fields[path] ??= sentence;
  }
  return new Problem('invalid', Object.values(fields)[0] as string, { fields });
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

/** One sentence about what is wrong, beginning with the path of the field. */
function complaint(error: ErrorObject, part: string): { sentence: string; path: string } {
  const inside = error.instancePath
    .slice(1, 2 * MAX_PATH)
    .replaceAll('/', '.')
    .replaceAll('~1', '/')
    .replaceAll('~0', '~');
  const missing = error.keyword === 'required' ? String(error.params.missingProperty) : '';
  const whole = [inside, missing].filter(Boolean).join('.') || (part === 'body' ? 'the body' : part);
  const path = whole.slice(0, MAX_PATH);
  if (missing) return { path, sentence: `${path} is required` };
  if (error.keyword === 'additionalProperties') {
    const known = Object.keys((error.parentSchema?.properties as object | undefined) ?? {});
    const unknown = String(error.params.additionalProperty);
    const sentence = unknownName(unknown, 'field', known);
    return { path: unknown.slice(0, MAX_PATH), sentence: inside ? `${path}: ${sentence}` : sentence };
  }
  if (error.keyword === 'propertyNames') {
    const key = JSON.stringify(error.params.propertyName).slice(0, 40);
    const { description = 'another text' } = error.schema as { description?: string };
    return { path, sentence: `${path}: the key ${key} must be ${description}` };
  }
  if (error.keyword === 'enum') {
    return { path, sentence: `${path} must be one of ${(error.schema as unknown[]).join(', ')}` };
  }
  if (error.keyword === 'type') {
    return { path, sentence: `${path} must be ${[error.params.type].flat().join(' or ')}` };
  }
  const options = alternatives(error);
  return { path, sentence: `${path} ${options ? `must be ${options}` : error.message}` };
}

function alternatives(error: ErrorObject): string {
  if (error.keyword !== 'anyOf' || !Array.isArray(error.schema)) return '';
  return error.schema
    .map(option => option.const ?? option.title ?? option.type ?? 'another shape')
    .join(' or ');
}
