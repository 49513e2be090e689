import { ULID_PATTERN } from '../../src/packet-service/core/packet-format/ulid.ts';
import type { JsonSchema } from '../helpers/definition.ts';
import type { Random } from './random.ts';
import { anyText, KEYS, type Known, NUMBERS } from './texts.ts';

/** JSON as text, because not every JSON text comes out of JSON.stringify: duplicate keys, 1e999. */
export type JsonText = string;

/** A JSON text that may be anything. */
export function anyJson(random: Random, depth = 0): JsonText {
  const kind = random.below(depth > 3 ? 5 : 8);
  if (kind === 0) return random.pick(['null', 'true', 'false']);
  if (kind === 1) return random.pick(NUMBERS);
  if (kind < 4) return JSON.stringify(anyText(random));
  if (kind === 4) return random.pick(['[]', '{}', '""']);
  const items = Array.from({ length: random.below(4) }, () => anyJson(random, depth + 1));
  if (kind === 5) return `[${items.join(',')}]`;
  return `{${items.map(value => `${JSON.stringify(random.pick(KEYS))}:${value}`).join(',')}}`;
}

/** JSON that is deep, long or wide, about as far as the limits and beyond them. */
export function largeJson(random: Random): JsonText {
  const depth = random.pick([50, 60, 64, 65, 100_000]);
  const count = random.pick([1000, 3000, 19_000, 21_000]);
  const members = (value: string) => Array.from({ length: count }, (_, at) => `"${at}":${value}`).join(',');
  return random.pick([
    () => '['.repeat(depth) + ']'.repeat(depth),
    () => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    () => `[${'0,'.repeat(random.pick([1000, 100_000, 270_000]))}0]`,
    () => `[${'{},'.repeat(count)}0]`,
    () => `{${members('0')}}`,
    () => `{${members('[]')}}`,
    () => `"${'x'.repeat(random.pick([5000, 500_000, 600_000]))}"`,
    () => `"${'\\u754c'.repeat(80_000)}"`,
    () => `1${'0'.repeat(random.pick([300, 400, 100_000]))}`,
    () => `0.${'3'.repeat(100_000)}`,
  ])();
}

/** A text that is no JSON, or that only some readers take for it. */
export function brokenJson(random: Random): JsonText {
  return random.pick([
    '',
    ' ',
    '{"a":1',
    '[1,]',
    '{"a":1,}',
    '\ufeff{}',
    '{"\\u0000":1}',
    '"\\ud800"',
    '"\\u00"',
    'nonsense',
    '{} {}',
    '01',
    '+1',
    '.5',
    '1.',
    '1e',
    '-',
    'NaN',
    "{'a':1}",
    '{a:1}',
    '"\n"',
    '/**/{}',
    '\0',
    '{}\0',
    '['.repeat(100_000),
    '{"a":'.repeat(100_000),
    '"',
    '"\\',
  ]);
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
  if (random.chance(wrong)) return random.chance(0.02) ? largeJson(random) : anyJson(random, 1);
  const texts = Object.hasOwn(known, name) ? known[name] : undefined;
  if (texts && !/^(object|array)/.test([schema.type].flat().join()) && random.chance(0.8)) {
    const text = random.pick(texts);
    return schema.type === 'integer' && /^\d+$/.test(text) ? text : JSON.stringify(text);
  }
  if (schema.examples && random.chance(0.5)) return JSON.stringify(random.pick(schema.examples));
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return JSON.stringify(random.pick(schema.enum));
  if (schema.title === 'a Polygon' && random.chance(0.8)) return square(random);
  const options = schema.anyOf ?? schema.oneOf;
  if (options) return jsonFor(random, random.pick(options as JsonSchema[]), known, wrong, name);
  const type = Array.isArray(schema.type) ? random.pick(schema.type as string[]) : schema.type;
  if (type === 'object') return objectFor(random, schema, known, wrong);
  if (type === 'array') return arrayFor(random, schema, known, wrong, name);
  if (type === 'integer' || type === 'number') return numberFor(random, schema, type, wrong);
  if (type === 'boolean') return random.pick(['true', 'false']);
  if (type === 'null') return 'null';
  if (type === 'string') return JSON.stringify(textFor(random, schema, wrong));
  return random.chance(0.02) ? largeJson(random) : anyJson(random, 2);
}

function square(random: Random): JsonText {
  const [west, south] = [random.below(340) - 170, random.below(160) - 80];
  const size = random.pick([1e-9, 0.01, 5]);
  const [east, north] = [west + size, south + size];
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ];
  return JSON.stringify({ type: 'Polygon', coordinates: [ring] });
}

function objectFor(random: Random, schema: JsonSchema, known: Known, wrong: number): JsonText {
  const required = new Set<string>(schema.required ?? []);
  const parts = Object.entries<JsonSchema>(schema.properties ?? {})
    .filter(([name]) => (required.has(name) ? !random.chance(wrong) : random.chance(0.4)))
    .map(([name, property]) => `${JSON.stringify(name)}:${jsonFor(random, property, known, wrong, name)}`);
  // A member that the schema does not name; it may hold much.
  if (random.chance(schema.additionalProperties === false ? wrong : 0.15)) {
    const value = random.chance(0.05) ? largeJson(random) : anyJson(random, 2);
    parts.push(`${JSON.stringify(random.pick(KEYS))}:${value}`);
  }
  // Of duplicate keys the last wins: a good one, or one that is anything.
  const name = random.chance(0.08) && parts[0] && /^"(?:\\.|[^"])*"/.exec(parts[0])?.[0];
  if (name && random.chance(0.5)) parts.unshift(`${name}:${anyJson(random, 2)}`);
  else if (name && random.chance(wrong)) parts.push(`${name}:${anyJson(random, 2)}`);
  return `{${parts.join(',')}}`;
}

function arrayFor(random: Random, schema: JsonSchema, known: Known, wrong: number, name: string): JsonText {
  const { minItems = 0, maxItems = 3 } = schema;
  const atMost = random.chance(0.02) && maxItems <= 1000;
  const most = atMost
    ? maxItems + (random.chance(wrong) ? 1 : 0)
    : Math.min(minItems + random.below(3), maxItems);
  return `[${Array.from({ length: most }, () => jsonFor(random, schema.items ?? {}, known, atMost ? 0 : wrong, name)).join(',')}]`;
}

function numberFor(random: Random, schema: JsonSchema, type: string, wrong: number): JsonText {
  if (random.chance(wrong)) return random.pick(NUMBERS);
  const { minimum = -1000, maximum = 1000 } = schema;
  if (random.chance(0.1)) return String(random.pick([minimum, maximum]));
  const value = minimum + random.below(Math.min(maximum - minimum, 2000) + 1);
  return type === 'number' && random.chance(0.5) ? String(Math.min(value + 0.25, maximum)) : String(value);
}

function textFor(random: Random, schema: JsonSchema, wrong: number): string {
  if (schema.format === 'date-time') return '2026-03-01T08:15:00Z';
  const characters = (alphabet: string, length: number) =>
    Array.from({ length }, () => random.pick([...alphabet])).join('');
  if (schema.pattern === ULID_PATTERN) return `01${characters('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 24)}`;
  if (schema.pattern === '^[0-9a-f]{64}$') return characters('0123456789abcdef', 64);
  const { minLength = 0, maxLength = 100_000 } = schema;
  const text = random.pick(['a', 'Leaf rust', 'é', '界', 'ana@example.org', '2026-03-01T08:15:00Z', '7']);
  if (random.chance(0.05) && maxLength <= 100_000) {
    return random.pick(['x', '界', '🌍']).repeat(maxLength + (random.chance(wrong) ? 1 : 0));
  }
  return [...text.padEnd(minLength, 'x')].slice(0, maxLength).join('');
}
