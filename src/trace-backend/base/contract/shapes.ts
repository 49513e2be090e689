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

/** Each of these fields, optional and nullable. */
export function nullableEach<Fields extends Record<string, TSchema>>(fields: Fields) {
  const each = Object.entries(fields).map(([name, schema]) => [name, nullable(schema)]);
  return Object.fromEntries(each) as {
    [Name in keyof Fields]: ReturnType<typeof nullable<Fields[Name]>>;
  };
}

/** An optional text of at most so many characters. */
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

/** A list, also if sent as a single item. */
export function listed<Item extends object>(value: readonly Item[] | Item): readonly Item[] {
  return Array.isArray(value) ? value : [value as Item];
}

interface Shape {
  properties?: Record<string, Shape>;
  items?: Shape;
}

/**
 * A value without the declared fields that are null, at any depth. `readBodies` makes null of a field that is cleared,
 * and answers leave out fields without a value. Undeclared fields stay as they are.
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
 * The same schema for answers, which have no null: unset fields are absent. They have records with every key, because
 * keys were not always checked.
 */
export function shown<Schema extends TSchema>(schema: Schema): Schema {
  return withoutNull(schema) as Schema;
}

function withoutNull(schema: unknown): unknown {
  if (Array.isArray(schema)) {
    return schema.filter(one => (one as { type?: unknown } | null)?.type !== 'null').map(withoutNull);
  }
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name]) => name !== 'propertyNames');
  const same = kept.map(([name, value]) => {
    if (name === 'type' && Array.isArray(value)) {
      const types = value.filter(type => type !== 'null');
      return [name, types.length === 1 ? types[0] : types];
    }
    if (name === 'enum') return [name, (value as unknown[]).filter(one => one !== null)];
    const isInside = ['properties', 'additionalProperties', 'items', 'anyOf'].includes(name);
    return [name, isInside ? insideOf(name, value) : value];
  });
  // Marks such as optional are properties that are not enumerable.
  return Object.defineProperties(Object.fromEntries(same), hiddenOf(schema));
}

function insideOf(name: string, value: unknown): unknown {
  if (name !== 'properties') return withoutNull(value);
  const fields = Object.entries(value as object).map(([field, inside]) => [field, withoutNull(inside)]);
  return Object.fromEntries(fields);
}

function hiddenOf(schema: object): PropertyDescriptorMap {
  const all = Object.entries(Object.getOwnPropertyDescriptors(schema));
  return Object.fromEntries(all.filter(([, { enumerable }]) => !enumerable));
}
