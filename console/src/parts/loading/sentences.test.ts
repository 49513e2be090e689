import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { recognise, SENTENCES } from './sentences.ts';

const ROOT = path.resolve(import.meta.dirname, '../../../..');

/** What the checks of bodies say, which is the validator's. */
function ofValidator(schema: object, value: unknown): string {
  const ajv = new Ajv();
  ajv.validate({ type: 'object', properties: { label: schema } }, { label: value });
  return `label ${ajv.errors?.[0]?.message}`;
}
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

test('every sentence that is translated is one that the services say', () => {
  const files = globSync('src/**/*.ts', { cwd: ROOT }).filter(file => !file.endsWith('.test.ts'));
  const sources = files.map(file => readFileSync(path.join(ROOT, file), 'utf8')).join('\n');
  const spoken = new Set(VALIDATOR.map(([key]) => key));
  for (const [key, sentence] of SENTENCES.filter(([key]) => !spoken.has(key))) {
    // The longest stretch between placeholders; a list of sentences may put a name before it.
    const [longest = ''] = sentence.split(/\{\w+\}/).sort((one, other) => other.length - one.length);
    expect(sources.includes(longest.trim()), `${key}: ${sentence}`).toBe(true);
  }
});

test('each sentence is recognised as itself, and what is not known stays as it is', () => {
  for (const [key, sentence] of SENTENCES) {
    const filled = sentence.replaceAll(/\{(\w+)\}/g, '7');
    expect(recognise(filled)?.key, sentence).toBe(key);
  }
  expect(recognise('there is no such company')).toBeUndefined();
  expect(recognise('<b>name</b> is required')?.values).toEqual({ field: '<b>name</b>' });
});
