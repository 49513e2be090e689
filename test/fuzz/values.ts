import type { JsonSchema } from '../helpers/definition.ts';
import type { Random } from './random.ts';

/** JSON as text, because not every JSON text comes out of JSON.stringify: duplicate keys, 1e999, lone surrogates. */
export type JsonText = string;

/** Texts that exist in the world, by the name of the field or parameter that takes them. */
export type Known = Readonly<Record<string, readonly string[]>>;

const TEXTS = [
  ...[
    '',
    ' ',
    'a',
    'Leaf rust',
    'x'.repeat(300),
    'x'.repeat(70_000),
    'é',
    '界'.repeat(256),
    '🌍',
    '\u202e',
    '\n\t',
  ],
  ...[
    '\0',
    'a\0b',
    '\ud800',
    'a\udfffb',
    '%00',
    "' OR 1=1 --",
    '<script>',
    '../../etc/passwd',
    '{{7*7}}',
    '\\',
  ],
  ...[
    '0',
    '-1',
    '1e3',
    'NaN',
    'null',
    'true',
    '[]',
    '{}',
    '__proto__',
    'constructor',
    'toString',
    '\ufeff',
    '١٢',
  ],
  ...[
    '2026-03-01',
    '2026-03-01T08:15:00Z',
    '2026-02-30',
    '0000-01-01',
    '9999-12-31T23:59:59.999999999+14:00',
  ],
  ...['-271821-04-20', '2026-03-01T08:15:00 03', 'x-private', 'i-klingon', 'a@b.example', '+250788123456'],
];

const NUMBERS = [
  ...['0', '-0', '1', '-1', '0.1', '1e-200', '5e-324', '1e-400', '1e100', '1e308', '1e999', '-1e999', '1E+2'],
  ...[
    '2147483647',
    '2147483648',
    '9007199254740991',
    '9007199254740993',
    '-9007199254740993',
    '90',
    '-180.0000001',
  ],
  ...['62149497467408096', '123456789012345678901234567890', '0.1000000000000000055511151231257827'],
];

const KEYS = [
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  '0',
  '1',
  '-1',
  '4294967295',
  '',
  'é',
  'hash',
];

/** A text that may be anything. */
export function anyText(random: Random): string {
  return random.pick(TEXTS);
}

/** A JSON text that may be anything, broken ones included. */
export function anyJson(random: Random, depth = 0): JsonText {
  const kind = random.below(depth > 3 ? 5 : 9);
  if (kind === 0) return random.pick(['null', 'true', 'false']);
  if (kind === 1) return random.pick(NUMBERS);
  if (kind < 4) return JSON.stringify(anyText(random));
  if (kind === 4) return random.pick(['[]', '{}', '""']);
  if (kind === 5) return `[${list(random, depth).join(',')}]`;
  if (kind === 8 && depth === 0) return strangeJson(random);
  const keys = list(random, depth).map(value => `${JSON.stringify(random.pick(KEYS))}:${value}`);
  return `{${keys.join(',')}}`;
}

function list(random: Random, depth: number): JsonText[] {
  return Array.from({ length: random.below(4) }, () => anyJson(random, depth + 1));
}

/** Huge, deep and broken texts. */
function strangeJson(random: Random): JsonText {
  return random.pick([
    () => '['.repeat(65) + ']'.repeat(65),
    () => '['.repeat(100_000),
    () => `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`,
    () => `[${'0,'.repeat(30_000)}0]`,
    () => `{${Array.from({ length: 3000 }, (_, at) => `"${at}":${at}`).join(',')}}`,
    () => `{"a":"${'x'.repeat(600_000)}"}`,
    () => '{"a":1,"a":2,"a":{"a":3}}',
    () => '{"a":1',
    () => '\ufeff{}',
    () => '{"\\u0000":1}',
    () => '"\\ud800"',
    () => 'nonsense',
  ])();
}

/**
 * A JSON text for a schema: valid as far as the schema tells, with some parts of it wrong now and then.
 *
 * @param wrong how probable it is that a part is wrong
 */
export function jsonFor(
  random: Random,
  schema: JsonSchema,
  known: Known,
  wrong: number,
  name = '',
): JsonText {
  if (random.chance(wrong)) return anyJson(random, 1);
  if (known[name] && schema.type === 'string' && random.chance(0.8)) {
    return JSON.stringify(random.pick(known[name] as readonly string[]));
  }
  if (schema.examples && random.chance(0.5)) return JSON.stringify(random.pick(schema.examples));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return JSON.stringify(random.pick(schema.enum));
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return jsonFor(random, random.pick(options as JsonSchema[]), known, wrong, name);
  const type = Array.isArray(schema.type) ? random.pick(schema.type as string[]) : schema.type;
  if (type === 'object') return objectFor(random, schema, known, wrong);
  if (type === 'array') return arrayFor(random, schema, known, wrong, name);
  if (type === 'integer' || type === 'number') return numberFor(random, schema, type);
  if (type === 'boolean') return random.pick(['true', 'false']);
  if (type === 'null') return 'null';
  if (type === 'string') return JSON.stringify(textFor(random, schema));
  return anyJson(random, 2);
}

function objectFor(random: Random, schema: JsonSchema, known: Known, wrong: number): JsonText {
  const required = new Set<string>(schema.required ?? []);
  const parts = Object.entries<JsonSchema>(schema.properties ?? {})
    .filter(([name]) => (required.has(name) ? !random.chance(wrong) : random.chance(0.4)))
    .map(([name, property]) => `${JSON.stringify(name)}:${jsonFor(random, property, known, wrong, name)}`);
  if (random.chance(0.1)) parts.push(`${JSON.stringify(random.pick(KEYS))}:${anyJson(random, 2)}`);
  // Of duplicate keys the last wins.
  if (random.chance(0.05) && parts[0]) parts.unshift(parts[0]);
  return `{${parts.join(',')}}`;
}

function arrayFor(random: Random, schema: JsonSchema, known: Known, wrong: number, name: string): JsonText {
  const least = schema.minItems ?? 0;
  const length = Math.min(least + random.below(3), schema.maxItems ?? 3);
  return `[${Array.from({ length }, () => jsonFor(random, schema.items ?? {}, known, wrong, name)).join(',')}]`;
}

function numberFor(random: Random, schema: JsonSchema, type: string): JsonText {
  const { minimum = -1000, maximum = 1000 } = schema;
  const value = minimum + random.below(Math.min(maximum - minimum, 2000) + 1);
  return type === 'number' && random.chance(0.5) ? String(Math.min(value + 0.25, maximum)) : String(value);
}

function textFor(random: Random, schema: JsonSchema): string {
  if (schema.format === 'date-time') return '2026-03-01T08:15:00Z';
  const text = random.pick(['a', 'Leaf rust', 'é', '界', 'ana@example.org', '2026-03-01T08:15:00Z', '7']);
  const padded = text.padEnd(schema.minLength ?? 0, 'x');
  return [...padded].slice(0, schema.maxLength ?? padded.length).join('');
}
