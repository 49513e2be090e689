import { type Static, type TObject, type TSchema, Type } from 'typebox';

/** An optional field of a body that can be cleared: `readBodies` turns an empty text into null, and removes null. */
export function nullable<Schema extends TSchema>(schema: Schema) {
  const { type, anyOf, ...rest } = schema as { type?: string | string[]; anyOf?: object[] };
  const shape = anyOf
    ? { ...rest, anyOf: [...anyOf, { type: 'null' }] }
    : { ...rest, type: [type, 'null'].flat() };
  return Type.Optional(Type.Unsafe<Static<Schema> | null>(shape));
}

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
