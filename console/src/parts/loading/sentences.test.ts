import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import english from '../../messages/en/failures.json' with { type: 'json' };
import type { Message } from '../../messages/fill.ts';
import { recognise, SENTENCES } from './sentences.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** What the checks of bodies say, which is the validator's. */
function ofValidator(schema: object, value: unknown): string {
  const ajv = new Ajv();
  ajv.validate({ type: 'object', properties: { label: schema } }, { label: value });
  return `label ${ajv.errors?.[0]?.message}`;
}
const JSON_TYPES = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
const VALIDATOR: [string, object, unknown][] = [
  ['text', { type: 'string' }, 1],
  ['integer', { type: 'integer' }, 'x'],
  ['number', { type: 'number' }, 'x'],
  ['short', { type: 'string', minLength: 3 }, 'x'],
  ['long', { type: 'string', maxLength: 3 }, 'four'],
  ['few', { type: 'array', minItems: 3 }, []],
  ['many', { type: 'array', maxItems: 0 }, [1]],
  ['least', { type: 'integer', minimum: 3 }, 1],
  ['most', { type: 'integer', maximum: 3 }, 4],
  ['pattern', { type: 'string', pattern: '^[a-z]+$' }, '1'],
  ['required', { type: 'string', minLength: 1 }, ''],
  ['required', { type: 'string', pattern: '\\S' }, ' '],
  ['number', { type: 'string', pattern: '^-?[0-9]{1,20}(\\.[0-9]{1,10})?$' }, '1.234,56'],
  ['integer', { type: 'string', pattern: '^[1-9][0-9]{0,9}$' }, 'x'],
  ['country', { type: 'string', pattern: '^[A-Z]{2}$' }, 'x'],
  ['currency', { type: 'string', pattern: '^[A-Z]{3}$' }, 'x'],
  ['language', { type: 'string', pattern: '^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$' }, '?'],
  [
    'time',
    { type: 'string', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]{1,20}(Z|[+-][0-9:]{1,6})?)?$' },
    'yesterday',
  ],
  ['boolean', { type: 'boolean' }, 1],
  ['shape', { type: 'array' }, 1],
  ['many', { type: 'object', maxProperties: 0 }, { a: 1 }],
];

test('what the validator says is recognised, with the name of the field', () => {
  for (const [key, schema, value] of VALIDATOR) {
    expect(recognise(ofValidator(schema, value)), key).toMatchObject({ key, values: { field: 'label' } });
  }
  expect(recognise('label must NOT have more than 20 characters')?.values).toEqual({
    field: 'label',
    count: '20',
  });
});

test('every combination of types that the definitions allow is recognised', () => {
  const types = new Set<string>();
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { type } = node as { type?: unknown };
    const isList = Array.isArray(type) && type.every(one => typeof one === 'string');
    if (typeof type === 'string' && JSON_TYPES.has(type)) types.add(type);
    else if (isList) types.add(type.join(' or '));
    const { anyOf } = node as { anyOf?: object[] };
    if (anyOf) types.add(anyOf.map(nameOf).join(' or '));
    Object.values(node).forEach(collect);
  };
  let schemas: Record<string, object> = {};
  /** As the validation names an alternative. */
  const nameOf = (option: { $ref?: string; const?: string; title?: string; type?: string }): string =>
    option.$ref
      ? nameOf(schemas[option.$ref.slice('#/components/schemas/'.length)] ?? {})
      : (option.const ?? option.title ?? option.type ?? 'another shape');
  for (const file of globSync('openapi/*.json', { cwd: ROOT })) {
    const definition = JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
    schemas = definition.components.schemas;
    collect(definition);
  }
  expect(types.size).toBeGreaterThan(10);
  for (const type of types) {
    const known = recognise(`origin.locations.0.Farm gate must be ${type}`);
    expect(known?.values, type).toEqual({ field: 'origin.locations.0.Farm gate' });
  }
});

test('every sentence that is translated is one that the services say', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter(file => !file.endsWith('.test.ts'));
  const sources = files.map(file => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
  const spoken = new Set(VALIDATOR.map(([key]) => key));
  for (const [key, sentence] of SENTENCES.filter(([key]) => !spoken.has(key))) {
    // The longest stretch between placeholders; a list of sentences may put a name before it.
    const [longest = ''] = sentence.split(/\{[a-z]+\}/).sort((one, other) => other.length - one.length);
    expect(sources.includes(longest.trim()), `${key}: ${sentence}`).toBe(true);
  }
});

test('each sentence is recognised as itself, and what is not known stays as it is', () => {
  for (const [key, sentence] of SENTENCES) {
    const filled = sentence.replaceAll(/\{[a-z]+\}/g, '7');
    expect(recognise(filled)?.key, sentence).toBe(key);
  }
  expect(recognise('there is no such company')).toBeUndefined();
  expect(recognise('<b>name</b> is required')?.values).toEqual({ field: '<b>name</b>' });
});

test('every sentence has a message, and none of them names a field or a code of the services', () => {
  const messages: Record<string, Message> = english;
  const keys = Object.keys(messages).filter(key => key.startsWith('said.'));
  expect([...new Set(SENTENCES.map(([key]) => `said.${key}`))].sort()).toEqual(keys.sort());
  for (const key of keys) {
    const message = messages[key] as Message;
    const forms = typeof message === 'string' ? [message] : Object.values(message);
    const words = forms.join('. ').replaceAll(/\{[a-z]+\}|WebP/g, '');
    expect(words, key).not.toMatch(/[a-z][A-Z]|[A-Z]_[A-Z]|[a-z]_[a-z]|[a-z]\.[a-z]+ /);
  }
});

test('what other languages say in place of values is in the sentences', () => {
  expect(recognise('there are no rates of USD and KES for 2026-11-01')).toEqual({
    key: 'rates',
    values: { codes: 'USD and KES', date: '2026-11-01' },
  });
  expect(recognise('token is unknown, used or older than an hour; request another mail')?.values.age).toBe(
    'an hour',
  );
});
