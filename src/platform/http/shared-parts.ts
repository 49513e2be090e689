import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { TSchema } from 'typebox';

/** The keyword that has the name of a schema; the definition does not show it. */
const NAME = 'x-name';

/**
 * Names a schema, which the OpenAPI definition then has once, in components/schemas, however often it occurs. What
 * is checked and sent does not depend on the name. A shape of requests that differs from the one of answers has the
 * name with "Input".
 */
export function named<Schema extends TSchema>(name: string, schema: Schema): Schema {
  return Object.assign(schema, { [NAME]: name });
}

type Json = Record<string, unknown>;
interface Operation {
  parameters?: Json[];
  requestBody?: Json;
  responses?: Record<string, Json>;
}
export interface Definition {
  paths?: Record<string, Record<string, Operation>>;
  components?: Json;
}

/** How often a parameter or an answer occurs before it is shared. */
const OFTEN = 3;

/**
 * The same definition with what occurs often in `components`: named schemas, errors and parameters. Of several shapes
 * with one name, the most frequent one is shared; the others remain where they are.
 */
export function withSharedParts<Document extends Definition>(document: Document): Document {
  const operations = Object.values(document.paths ?? {}).flatMap(methods => Object.values(methods));
  const schemas = sharedSchemas(operations);
  const answers = sharedErrors(operations);
  const parameters = sharedParameters(operations);
  const referring = ({ parameters: sent, requestBody, responses = {}, ...rest }: Operation): Operation => ({
    ...rest,
    ...(sent && {
      parameters: sent.map(parameter => {
        const shared = parameters.refer(parameter, parameterName(parameter));
        return shared === parameter ? (schemas.inside(parameter, 'Input') as Json) : shared;
      }),
    }),
    ...(requestBody && { requestBody: schemas.inside(requestBody, 'Input') as Json }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, answer]) => {
        const shared = answers.refer(answer, answerName(status));
        return [status, shared === answer ? (schemas.inside(answer, '') as Json) : shared];
      }),
    ),
  });
  const paths = Object.entries(document.paths ?? {}).map(([path, methods]) => {
    const operations = Object.entries(methods).map(([method, operation]) => [method, referring(operation)]);
    return [path, Object.fromEntries(operations)];
  });
  const shown = (parts: Map<string, Json>, side: '' | 'Input') =>
    sorted([...parts].map(([name, part]) => [name, schemas.inside(part, side) as Json]));
  const components = {
    ...document.components,
    responses: shown(answers.shared, ''),
    parameters: shown(parameters.shared, 'Input'),
  };
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { ...components, schemas: sorted([...schemas.used]) },
  };
}

const sorted = (parts: [string, Json][]) =>
  Object.fromEntries(parts.toSorted(([first], [second]) => (first < second ? -1 : 1)));

/** Parts of one kind, such as errors, and references to those that occur often. */
function references(kind: string, parts: [string, Json][], often: number) {
  const shared = mostFrequent(parts, often);
  return {
    shared,
    /** a reference to a part if it is shared; otherwise the part itself */
    refer: (part: Json, name: string): Json =>
      isDeepStrictEqual(shared.get(name), part) ? { $ref: `#/components/${kind}/${name}` } : part,
  };
}

function sharedErrors(operations: readonly Operation[]) {
  const answers = operations.flatMap(({ responses = {} }) => Object.entries(responses));
  const errors = answers.filter(([status]) => Number(status) >= 400);
  return references(
    'responses',
    errors.map(([status, answer]) => [answerName(status), answer]),
    OFTEN,
  );
}

const answerName = (status: string) => (STATUS_CODES[status] ?? status).replaceAll(/\W/g, '');

function sharedParameters(operations: readonly Operation[]) {
  const all = operations.flatMap(({ parameters = [] }) => parameters);
  return references(
    'parameters',
    all.map(parameter => [parameterName(parameter), parameter]),
    OFTEN,
  );
}

/** Such as LimitQuery. */
function parameterName({ name, in: location }: { name?: unknown; in?: unknown }): string {
  const words = `${name}-${location}`.split(/[-_]/);
  return words.map(word => word.slice(0, 1).toUpperCase() + word.slice(1)).join('');
}

/** Selects the most frequent part of each name (the first of equals) if it occurs that often. */
function mostFrequent(parts: readonly [string, Json][], often: number): Map<string, Json> {
  const counts = new Map<string, Map<string, { part: Json; count: number }>>();
  for (const [name, part] of parts) {
    const variants = counts.get(name) ?? new Map<string, { part: Json; count: number }>();
    counts.set(name, variants);
    const text = JSON.stringify(part);
    const variant = variants.get(text) ?? { part, count: 0 };
    variants.set(text, variant);
    variant.count++;
  }
  const most = [...counts].flatMap(([name, variants]): [string, Json][] => {
    const [first] = [...variants.values()].toSorted((a, b) => b.count - a.count);
    return first && first.count >= often ? [[name, first.part]] : [];
  });
  return new Map(most);
}

/** Named schemas, and references to them. */
function sharedSchemas(operations: readonly Operation[]) {
  const named = { '': [] as [string, Json][], Input: [] as [string, Json][] };
  for (const { parameters, requestBody, responses } of operations) {
    collect(parameters, named.Input);
    collect(requestBody, named.Input);
    collect(responses, named['']);
  }
  const shown = mostFrequent(named[''], 1);
  const taken = mostFrequent(named.Input, 1);
  const used = new Map<string, Json>();

  /** A part of the definition with references to named schemas, on the side of requests (Input) or answers. */
  function inside(part: unknown, side: '' | 'Input'): unknown {
    if (Array.isArray(part)) return part.map(item => inside(item, side));
    if (typeof part !== 'object' || part === null) return part;
    const { [NAME]: name, ...rest } = part as Json;
    if (typeof name === 'string') {
      const reference = referenceTo(name, part as Json, side);
      if (reference) return reference;
    }
    return Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, inside(value, side)]));
  }

  function referenceTo(name: string, schema: Json, side: '' | 'Input'): Json | undefined {
    const { shape, isNullable, notes } = plain(schema);
    const common = (side === '' ? shown : taken).get(name);
    if (!isDeepStrictEqual(shape, common)) return undefined;
    const isSame = !shown.has(name) || isDeepStrictEqual(shape, shown.get(name));
    const full = isSame ? name : `${name}Input`;
    if (!used.has(full)) {
      used.set(full, {});
      const { [NAME]: _, ...own } = shape;
      used.set(full, inside(own, side) as Json);
    }
    const reference = { $ref: `#/components/schemas/${full}` };
    return isNullable ? { ...notes, anyOf: [reference, { type: 'null' }] } : { ...reference, ...notes };
  }

  return { inside, used };
}

function collect(part: unknown, named: [string, Json][]): void {
  if (typeof part !== 'object' || part === null) return;
  const name = (part as Json)[NAME];
  if (typeof name === 'string') named.push([name, plain(part as Json).shape]);
  for (const value of Object.values(part)) collect(value, named);
}

/** A schema without what differs between its uses: its description and examples, and whether it may be null. */
function plain(schema: Json): { shape: Json; isNullable: boolean; notes: Json } {
  const { description, examples, ...rest } = schema;
  const notes = {
    ...(description !== undefined && { description }),
    ...(examples !== undefined && { examples }),
  };
  const { type, anyOf } = rest;
  if (Array.isArray(type) && type.includes('null')) {
    const types = type.filter(name => name !== 'null');
    return { shape: { ...rest, type: types.length === 1 ? types[0] : types }, isNullable: true, notes };
  }
  if (Array.isArray(anyOf) && anyOf.some(isNull)) {
    return { shape: { ...rest, anyOf: anyOf.filter(option => !isNull(option)) }, isNullable: true, notes };
  }
  return { shape: rest, isNullable: false, notes };
}

const isNull = (schema: Json) => schema.type === 'null';
