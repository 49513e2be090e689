import { readFileSync } from 'node:fs';
import type { JsonSchema, Operation } from './definition.ts';

/**
 * An operation that the public front end of INATrace declares. Types are written as `number`, `string`, `boolean`,
 * `Date`, `object` (anything), `file`, `[ONE, OTHER]` (an enumeration), `list of …`, `map of …`, `page of …`, or the
 * name of an object.
 */
export interface Declared {
  operation: string;
  area: string;
  method: string;
  path: string;
  /** types of the query parameters */
  query?: Record<string, string>;
  /** query parameters that are always sent */
  required?: string[];
  headers?: string[];
  body?: string;
  /** type of the envelope's data; absent if only the status is read */
  answer?: string;
  /** whether the answer has no envelope */
  bare?: boolean;
}

/** A query or body of the front end, as recorded in a browser. */
export interface Sent {
  method: string;
  path: string;
  /** query strings, with the question mark */
  queries?: string[];
  body?: unknown;
  /** whether the recording ended before the body did */
  cut?: boolean;
}

/** A file of test/fixtures/front-end. */
function fixture<Content>(name: string): Content {
  return JSON.parse(readFileSync(new URL(`../fixtures/front-end/${name}.json`, import.meta.url), 'utf8'));
}

/** Every operation that the front end declares. */
export const DECLARED = fixture<Declared[]>('operations');
/** The requests that it was seen to send. */
export const SENT = fixture<Sent[]>('sent');
/** Operations that are not compatible yet, as from `keyOf`. */
export const LACKING = fixture<string[]>('lacking');

const FIELDS = fixture<Record<string, Record<string, string>>>('objects');
const rules = fixture<{
  records: string[];
  whole: string[];
  unsent: Record<string, string>;
  unread: Record<string, string>;
}>('rules');
/** Objects that are records of their own: inside another object they are referred to. */
const RECORDS = new Set(rules.records);
/** Records inside answers that the front end reads as a whole: `ApiProduct.company`. */
const WHOLE = new Set(rules.whole);
/** Fields that need not be taken, because no screen sends them or they are read-only; or given. With the reasons. */
const UNSENT = new Map(Object.entries(rules.unsent));
const UNREAD = new Map(Object.entries(rules.unread));
/** The fields that name a record. */
const IDENTITY = ['id', 'storageKey', 'code'];
/** The fields of a referenced record that the front end shows. */
const SHOWN = [...IDENTITY, 'name', 'label'];
/** Fields that only answers have. */
const READ_ONLY = ['creationTimestamp', 'updateTimestamp'];
/** Read-only fields of objects inside a body, which are stored as a part of it. */
const OWN_ID = ['id', ...READ_ONLY];

/** A method with a path whose parameters have no names, which differ between definitions. */
export function keyOf({ method, path }: Pick<Declared, 'method' | 'path'>): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}').replace(/\/$/, '')}`;
}

/** In what ways our operation is not the declared one, as sentences; none if it is compatible. */
export function differences(declared: Declared, ours: Operation | undefined): string[] {
  if (!ours) return ['there is no such method and path'];
  return [
    ...differentParameters(declared, ours),
    ...differentBody(declared, ours),
    ...differentAnswer(declared, ours),
  ];
}

function differentParameters(declared: Declared, { parameters }: Operation): string[] {
  const { query = {}, required = [], headers = [] } = declared;
  const find = (location: string, name: string) =>
    parameters.find(parameter => parameter.in === location && parameter.name === name);
  const lacking = headers.flatMap(name => (find('header', name) ? [] : `header ${name} is missing`));
  const different = Object.entries(query).flatMap(([name, type]) => {
    const parameter = find('query', name);
    return parameter
      ? notTaken(type, parameter.schema, `query ${name}`)
      : [`query parameter ${name} is missing`];
  });
  const demanded = parameters.filter(
    ({ in: location, name, required: isRequired }) =>
      (location === 'query' || location === 'header') && isRequired && !required.includes(name),
  );
  return [...lacking, ...different, ...demanded.map(({ name }) => `parameter ${name} must not be required`)];
}

function differentBody({ method, body }: Declared, ours: Operation): string[] {
  const [type, schema] = Object.entries(ours.body)[0] ?? [];
  if (body === undefined) return [];
  if (body === 'file') return type === 'multipart/form-data' ? [] : ['the body is no form with a file'];
  if (schema === undefined) return ['there is no body'];
  // The id of a new record means nothing.
  return notTaken(body, schema, 'body', method === 'POST' ? OWN_ID : READ_ONLY);
}

function differentAnswer({ answer, bare }: Declared, { responses }: Operation): string[] {
  const [type, schema] = Object.entries(responses['200'] ?? {})[0] ?? [];
  if (answer === undefined) return [];
  if (answer === 'file') {
    return type !== undefined && type !== 'application/json' ? [] : ['the answer is no file'];
  }
  if (schema === undefined) return ['there is no answer'];
  const data = bare ? schema : fieldOf([schema], 'data');
  if (data === undefined) return ['the answer has no data'];
  return notGiven(answer, data, 'answer', true);
}

/** The alternatives that a schema consists of. */
function alternatives(schema: JsonSchema): JsonSchema[] {
  const { anyOf, oneOf, ...rest } = schema;
  const parts = [...(anyOf ?? []), ...(oneOf ?? [])].flatMap(alternatives);
  const { description: _, examples: _examples, default: _default, ...bounds } = rest;
  return parts.length === 0 || Object.keys(bounds).length > 0 ? [rest, ...parts] : parts;
}

function typesOf(schemas: JsonSchema[]): Set<string> {
  const named = schemas.flatMap(({ type, enum: values, const: value }) => {
    if (type !== undefined) return [type].flat();
    return [...(values ?? []), ...(value === undefined ? [] : [value])].map(value => typeof value);
  });
  return new Set(named);
}

function fieldOf(schemas: JsonSchema[], name: string): JsonSchema | undefined {
  return schemas.find(({ properties }) => properties && Object.hasOwn(properties, name))?.properties[name];
}

/** The schema of the values of a map. */
function valuesOf(schemas: JsonSchema[]): JsonSchema | undefined {
  const [schema] = schemas.flatMap(({ patternProperties = {}, additionalProperties }) => [
    ...Object.values(patternProperties),
    ...(typeof additionalProperties === 'object' ? [additionalProperties] : []),
  ]);
  return schema;
}

const valuesOfEnum = (schemas: JsonSchema[]) => {
  // Clients read null as absent.
  const values = schemas
    .flatMap(({ enum: some, const: value }) => some ?? (value === undefined ? [] : [value]))
    .filter(value => value !== null);
  return values.length === 0 ? undefined : new Set<unknown>(values);
};

const partOf = (type: string, prefix: string) =>
  type.startsWith(prefix) ? type.slice(prefix.length) : undefined;
const enumOf = (type: string) => (type.startsWith('[') ? type.slice(1, -1).split(', ') : undefined);
const PLAIN: Record<string, string[]> = {
  number: ['number', 'integer'],
  string: ['string'],
  Date: ['string'],
  boolean: ['boolean'],
};

/** Whether an object can have any fields, which are stored and given back. */
function isOpen(schemas: JsonSchema[]): boolean {
  return schemas.some(
    ({ type, properties, patternProperties }) =>
      [type].flat().includes('object') && !properties && !patternProperties,
  );
}

/** Why a request may not send a value of a declared type where this schema is. */
function notTaken(type: string, schema: JsonSchema, at: string, ignored: string[] = []): string[] {
  const schemas = alternatives(schema);
  const types = typesOf(schemas);
  if (type === 'object' || (types.size === 0 && !valuesOfEnum(schemas))) return [];
  const values = enumOf(type);
  if (values) {
    const known = valuesOfEnum(schemas);
    const refused = known ? values.filter(value => !known.has(value)) : [];
    if (!types.has('string')) return [`${at} is no text`];
    return refused.length > 0 ? [`${at} refuses ${refused.join(', ')}`] : [];
  }
  if (PLAIN[type]) return PLAIN[type].some(name => types.has(name)) ? [] : [`${at} is no ${type}`];
  const item = partOf(type, 'list of ') ?? /^Array<(\w+)>$/.exec(type)?.[1];
  if (item) {
    const items = schemas.find(({ items }) => items)?.items;
    return items ? notTaken(item, items, `${at}.*`, OWN_ID) : [`${at} is no list`];
  }
  const value = partOf(type, 'map of ');
  if (value) {
    const inside = valuesOf(schemas);
    return inside ? notTaken(value, inside, `${at}.*`) : [`${at} is no map`];
  }
  return fieldsNotTaken(type, schemas, at, ignored);
}

function fieldsNotTaken(type: string, schemas: JsonSchema[], at: string, ignored: string[]): string[] {
  const fields = FIELDS[type];
  if (!fields) throw new Error(`${type} is no object of the front end`);
  if (isOpen(schemas)) return [];
  if (at !== 'body' && RECORDS.has(type)) {
    const isNamed = IDENTITY.some(name => Object.hasOwn(fields, name) && fieldOf(schemas, name));
    return isNamed ? [] : [`${at} takes no ${IDENTITY.find(name => Object.hasOwn(fields, name))}`];
  }
  return Object.entries(fields).flatMap(([name, field]) => {
    if (ignored.includes(name) || UNSENT.has(`${type}.${name}`)) return [];
    const schema = fieldOf(schemas, name);
    return schema ? notTaken(field, schema, `${at}.${name}`, OWN_ID) : [`${at}.${name} is missing`];
  });
}

/** Why an answer that this schema describes may not be one of a declared type. */
function notGiven(type: string, schema: JsonSchema, at: string, isWhole: boolean): string[] {
  const schemas = alternatives(schema);
  const types = typesOf(schemas);
  if (type === 'object') return [];
  const values = enumOf(type);
  if (values) {
    const stated = valuesOfEnum(schemas);
    const strange = [...(stated ?? [])].filter(value => !values.includes(value as string));
    if (!stated) return [`${at} is no enumeration`];
    return strange.length > 0 ? [`${at} gives ${strange.join(', ')}`] : [];
  }
  if (PLAIN[type]) return PLAIN[type].some(name => types.has(name)) ? [] : [`${at} is no ${type}`];
  const page = partOf(type, 'page of ');
  if (page) {
    const lacking = ['count', 'offset', 'limit'].filter(name => !fieldOf(schemas, name));
    const items = fieldOf(schemas, 'items');
    if (lacking.length > 0 || !items) return [`${at} is no page`];
    return notGiven(`list of ${page}`, items, `${at}.items`, true);
  }
  const item = partOf(type, 'list of ');
  if (item) {
    const items = schemas.find(({ items }) => items)?.items;
    return items ? notGiven(item, items, `${at}.*`, isWhole) : [`${at} is no list`];
  }
  const value = partOf(type, 'map of ');
  if (value) {
    const inside = valuesOf(schemas);
    return inside ? notGiven(value, inside, `${at}.*`, true) : [`${at} is no map`];
  }
  return fieldsNotGiven(type, schemas, at, isWhole);
}

function fieldsNotGiven(type: string, schemas: JsonSchema[], at: string, isWhole: boolean): string[] {
  if (!typesOf(schemas).has('object')) return [`${at} is no object`];
  if (isOpen(schemas)) return [];
  const isReference = RECORDS.has(type) && !isWhole;
  return Object.entries(FIELDS[type] ?? {}).flatMap(([name, field]) => {
    if (UNREAD.has(`${type}.${name}`) || (isReference && !SHOWN.includes(name))) return [];
    const schema = fieldOf(schemas, name);
    if (!schema) return [`${at}.${name} is missing`];
    return notGiven(field, schema, `${at}.${name}`, WHOLE.has(`${type}.${name}`));
  });
}
