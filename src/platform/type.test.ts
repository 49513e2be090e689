import fc from 'fast-check';
import { Type as TypeBox } from 'typebox';
import { expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { Type } from './type.ts';

/** A call of one of the functions, whose arguments can be calls. */
interface Call {
  call: keyof typeof Type;
  values: readonly unknown[];
}

/** The return types of the calls in a value, if `types` has the functions. */
function made(value: unknown, types: object): unknown {
  if (Array.isArray(value)) return value.map(item => made(item, types));
  if (typeof value !== 'object' || value === null) return value;
  if (isCall(value)) {
    const make = (types as Record<string, (...values: unknown[]) => unknown>)[value.call];
    return make?.(...value.values.map(item => made(item, types)));
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, made(member, types)]));
}

const isCall = (value: object): value is Call => typeof (value as Call).call === 'string';

const options = fc.record(
  { description: fc.string(), default: fc.integer(), title: fc.string() },
  { requiredKeys: [] },
);
const call = (name: keyof typeof Type, ...values: fc.Arbitrary<unknown>[]) =>
  fc.tuple(...values).map((args): Call => ({ call: name, values: args }));
const simple = (['String', 'Integer', 'Number', 'Boolean', 'Null', 'Any', 'Unknown'] as const).map(name =>
  call(name, options),
);
const { schema } = fc.letrec<{ schema: Call; object: Call }>(tie => ({
  schema: fc.oneof(
    { maxDepth: 4 },
    ...simple,
    call('Literal', fc.oneof(fc.string(), fc.integer(), fc.boolean())),
    call('Enum', fc.array(fc.string()), options),
    call('Unsafe', fc.constant({ type: ['string', 'null'], maxLength: 3 })),
    call('Optional', tie('schema')),
    call('Array', tie('schema'), options),
    call('Union', fc.array(tie('schema'), { minLength: 1, maxLength: 3 }), options),
    call('Partial', tie('object'), options),
    tie('object'),
  ),
  object: call('Object', fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), tie('schema')), options),
}));

test('every schema is the one that TypeBox makes, with its members in the same order', () => {
  fc.assert(
    fc.property(schema, call => {
      expect(JSON.stringify(made(call, Type))).toBe(JSON.stringify(made(call, TypeBox)));
    }),
    { numRuns: runs(100) },
  );
});

test('a record checks the value of every key, and the keys if they have a rule', () => {
  const values = Type.Number();
  const options = { maxProperties: 3 };
  expect(Type.Record(Type.String(), values, options)).toEqual({
    type: 'object',
    additionalProperties: { type: 'number' },
    maxProperties: 3,
  });
  expect(Type.Record(Type.String({ maxLength: 5 }), values)).toEqual({
    type: 'object',
    propertyNames: { maxLength: 5 },
    additionalProperties: { type: 'number' },
  });
});
