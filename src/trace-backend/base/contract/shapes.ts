import type { Static, TObject, TSchema } from 'typebox';
import { Type } from '../../../platform/type.ts';

/** An optional field of a body that can be cleared: `readBodies` turns an empty text into null, and removes null. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, anyOf, ...rest } = schema as { type?: string | string[]; anyOf?: object[] };
  const shape = anyOf
    ? { ...rest, anyOf: [...anyOf, { type: 'null' }] }
    : { ...rest, type: [type, 'null'].flat() };
  return Type.Optional(Type.Unsafe<Static<Schema> | null>(shape));
}

/** A key of a record in a body. Every other key is refused, so that no value escapes its schema. */
export const RecordKey = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$',
  description: 'one line of 1 to 255 characters',
});

/** These fields, each optional and nullable. */
export function nullableEach<Fields extends Record<string, TSchema>>(fields: Fields) {
  const each = Object.entries(fields).map(([name, schema]) => [name, nullable(schema)]);
  return Object.fromEntries(each) as {
    [Name in keyof Fields]: ReturnType<typeof nullable<Fields[Name]>>;
  };
}

/** An optional text with a maximum number of characters. */
export function text(maxLength: number) {
  return nullable(Type.String({ maxLength }));
}

/** An optional field with one of these values. */
export function oneOf<const Values extends readonly string[]>(values: Values, description?: string) {
  const shape = { type: ['string', 'null'], enum: [...values, null], minLength: 1 };
  return Type.Optional(Type.Unsafe<Values[number] | null>({ ...shape, ...(description && { description }) }));
}

/** An optional list; a single item may be sent without the list. Errors name the path of the item. */
export function oneOrMany<Item extends TObject>(item: Item, maxItems: number) {
  const shape = { ...item, type: ['array', 'object', 'null'], items: item, maxItems };
  return Type.Optional(Type.Unsafe<Static<Item>[] | Static<Item> | null>(shape));
}

/** The list of a field that accepts a single item, too. */
export function asList<Item extends object>(value: readonly Item[] | Item): readonly Item[] {
  return Array.isArray(value) ? value : [value as Item];
}

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
}

/**
 * Removes declared fields that are null, at any depth: `readBodies` sets cleared fields to null, and answers leave out
 * fields without a value. Undeclared fields stay unchanged.
 */
export function withoutUnset<Value>(value: Value, schema: TSchema): Value {
  return withoutNullFields(value, schema as Shape) as Value;
}

function withoutNullFields(value: unknown, { properties, items }: Shape): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return items ? value.map(item => withoutNullFields(item, items)) : value;
  if (!properties) return value;
  const fields = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    const shape = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!shape) return [[name, field]];
    return field === null ? [] : [[name, withoutNullFields(field, shape)]];
  });
  return Object.fromEntries(fields);
}

/**
 * The schema of a field in answers: without null, because unset fields are absent, and with records of any key, because
 * stored keys may be older than the check.
 */
export function answerSchemaOf<Schema extends TSchema>(schema: Schema): Schema {
  return withoutNull(schema) as Schema;
}

function withoutNull(schema: unknown): unknown {
  if (Array.isArray(schema)) {
    return schema.filter(option => (option as { type?: unknown } | null)?.type !== 'null').map(withoutNull);
  }
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).filter(([name]) => name !== 'propertyNames');
  const members = entries.map(([name, value]) => {
    if (name === 'type' && Array.isArray(value)) {
      const types = value.filter(type => type !== 'null');
      return [name, types.length === 1 ? types[0] : types];
    }
    if (name === 'enum') return [name, (value as unknown[]).filter(item => item !== null)];
    const isInside = ['properties', 'additionalProperties', 'items', 'anyOf'].includes(name);
    return [name, isInside ? innerOf(name, value) : value];
  });
  // TypeBox marks optional schemas with properties that are not enumerable.
  return Object.defineProperties(Object.fromEntries(members), notEnumerableOf(schema));
}

function innerOf(name: string, value: unknown): unknown {
  if (name !== 'properties') return withoutNull(value);
  const fields = Object.entries(value as object).map(([field, inside]) => [field, withoutNull(inside)]);
  return Object.fromEntries(fields);
}

function notEnumerableOf(schema: object): PropertyDescriptorMap {
  const all = Object.entries(Object.getOwnPropertyDescriptors(schema));
  return Object.fromEntries(all.filter(([, { enumerable }]) => !enumerable));
}
