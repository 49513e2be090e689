import type { Type as TypeBox } from 'typebox';

type Options = Record<string, unknown>;
type Schema = Record<string, unknown>;

/** The mark of schemas whose property may be left out. Like TypeBox's, it is not enumerable. */
const OPTIONAL = '~optional';

function object(properties: Record<string, Schema>, options?: Options): Schema {
  const required = Object.keys(properties).filter(name => !(OPTIONAL in (properties[name] as Schema)));
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options };
}

/** The schema of a JSON value of this type. */
const simple = (type: string) => (options?: Options) => ({ type, ...options });

/** A copy of a schema whose property may be left out. */
function optionally(schema: Schema): Schema {
  return Object.defineProperty({ ...schema }, OPTIONAL, { value: true });
}

/**
 * The functions of TypeBox that schemas are made with, and no others. What they return is typed by TypeBox and, except
 * for records, equal to what TypeBox returns, without loading it: that takes a seventh of the time of a start (docs/decisions/runtime.md).
 */
export const Type = {
  Any: (options?: Options) => ({ ...options }),
  Array: (items: Schema, options?: Options) => ({ type: 'array', items, ...options }),
  Boolean: simple('boolean'),
  Enum: (values: readonly unknown[], options?: Options) => ({ enum: values, ...options }),
  Integer: simple('integer'),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Null: simple('null'),
  Number: simple('number'),
  Object: object,
  Optional: optionally,
  Partial: ({ properties }: { properties: Record<string, Schema> }, options?: Options) =>
    object(
      Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, optionally(schema)])),
      options,
    ),
  // Unlike TypeBox's, which checks only the members whose keys match a pattern.
  Record: ({ type: _type, ...keys }: Schema, values: Schema, options?: Options) => ({
    type: 'object',
    ...(Object.keys(keys).length > 0 && { propertyNames: keys }),
    additionalProperties: values,
    ...options,
  }),
  String: simple('string'),
  Union: (anyOf: readonly Schema[], options?: Options) => ({ anyOf, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: Schema) => schema,
} as unknown as Pick<
  typeof TypeBox,
  | 'Any'
  | 'Array'
  | 'Boolean'
  | 'Enum'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Partial'
  | 'Record'
  | 'String'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'
>;
