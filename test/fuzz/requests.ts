import type { JsonSchema, Operation } from '../helpers/definition.ts';
import { contentFor } from './bodies.ts';
import { jsonFor } from './json.ts';
import type { Random } from './random.ts';
import { anyText, bytesOf, KEYS, type Known, NO_UTF8 } from './texts.ts';
import type { WireRequest } from './wire.ts';

/** Parameters of which other values would only have the answer wait. */
const FIXED: Known = { wait: ['0', '0.001'] };
const ACCEPTS = [
  '*/*',
  'application/json',
  'text/csv',
  'application/geo+json',
  'application/n-triples',
  'application/x-ndjson',
  'image/*;q=0.5',
  'text/html, */*;q=0',
  ';;',
  'a/b;q=2',
  ','.repeat(5000),
];
/** Headers that the server itself, a proxy or a framework acts on. */
const OTHERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['expect', ['100-continue', 'nonsense']],
  ['host', ['example.org', '', 'localhost:99999', '[::1']],
  ['origin', ['null', 'https://example.org', 'nonsense']],
  ['sec-fetch-site', ['cross-site', 'nonsense']],
  ['content-length', ['-1', '1e3', '0x10', '1, 1', '18446744073709551616']],
  ['transfer-encoding', ['chunked, gzip', 'gzip', 'nonsense']],
  ['connection', ['upgrade', 'keep-alive, x']],
  ['upgrade', ['websocket', 'h2c']],
  ['x-forwarded-for', ['203.0.113.7', 'nonsense', ','.repeat(1000)]],
  ['x-request-id', ['a', 'x'.repeat(300), '\xff']],
  ['idempotency-key', ['a', 'b', 'x'.repeat(256)]],
  ['if-none-match', ['*', 'W/"a"', '"', ','.repeat(5000)]],
  ['range', ['bytes=0-0', 'bytes=-0', 'bytes=5-1', 'bytes=0-99999999999999999999', 'bytes=0-1,2-3', 'x']],
  ['__proto__', ['a']],
  ['constructor', ['a']],
];
/** Escapes of a lone surrogate, an overlong U+0000, half a character, a byte that is no UTF-8, U+0000, and no escapes. */
const ESCAPES = [
  '%ED%A0%80',
  '%C0%80',
  '%E7%95',
  '%FF',
  '%00',
  '%zz',
  '%',
  '%2',
  '%u0041',
  '+',
  '%2F',
  '%252F',
];

/** A request to an operation: most are good in most parts, each part is broken now and then. */
export function makeRequest(random: Random, operation: Operation, known: Known): WireRequest {
  const wrong = random.pick([0, 0.05, 0.3]);
  const content = contentFor(random, operation, known, wrong);
  return {
    method: random.chance(0.005) ? random.pick(['TRACE', 'PROPFIND', 'get', 'X']) : operation.method,
    path: pathOf(random, operation, known, wrong),
    headers: [...headersOf(random, operation, known, wrong), ...(content?.headers ?? [])],
    body: content?.body,
    isChunked: random.chance(0.1),
  };
}

function pathOf(random: Random, { path, parameters }: Operation, known: Known, wrong: number): string {
  const schemas = new Map(
    parameters.map(({ in: location, name, schema }) => [`${location} ${name}`, schema]),
  );
  const parameter = (name: string, schema: JsonSchema) =>
    escaped(random, parameterText(random, name, schema, known, wrong), wrong);
  const filled = path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: string) => parameter(name, schemas.get(`path ${name}`) ?? { type: 'string' }) || 'x',
  );
  const query = parameters
    .filter(({ in: location, required }) => location === 'query' && random.chance(required ? 0.95 : 0.3))
    .map(({ name, schema }) => `${name}=${parameter(name, schema)}`);
  if (random.chance(0.03)) query.push(...query.slice(0, 1));
  if (random.chance(0.03)) {
    query.push(`${escaped(random, random.pick(KEYS), wrong)}=${escaped(random, anyText(random), wrong)}`);
  }
  if (random.chance(0.005)) query.push(random.pick(['&'.repeat(3000), '=', 'a[b]=c', 'x='.repeat(9000)]));
  const slash = random.chance(0.03) ? '/' : '';
  return `${filled}${slash}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

function headersOf(
  random: Random,
  operation: Operation,
  known: Known,
  wrong: number,
): [name: string, value: string][] {
  const headers: [string, string][] = [];
  const add = (name: string, text: string) => headers.push([name, headerText(random, text, wrong)]);
  const own = operation.parameters.filter(({ in: location }) => location === 'header');
  for (const { name, required, schema } of own) {
    if (!random.chance(required ? 0.95 : 0.3)) continue;
    if (name === 'tus-resumable' && !random.chance(wrong)) add(name, '1.0.0');
    else if (name === 'upload-metadata') add(name, metadata(random));
    else add(name, parameterText(random, name, schema, known, wrong));
  }
  if (random.chance(0.1)) add('accept', random.pick(ACCEPTS));
  if (random.chance(0.05)) add('content-language', anyText(random));
  if (random.chance(0.05)) {
    const [name, values] = random.pick(OTHERS);
    add(name, random.pick(values));
  }
  if (random.chance(0.01)) add('x-any', random.pick(['x'.repeat(20_000), ...NO_UTF8, '\0', '\x01', '\x7f']));
  if (random.chance(0.02) && headers[0]) headers.push(headers[0]);
  const isHostSent = headers.some(([name]) => name === 'host');
  return isHostSent || random.chance(0.003) ? headers : [['host', 'localhost'], ...headers];
}

/** The text of a parameter, which is no JSON there. */
function parameterText(
  random: Random,
  name: string,
  schema: JsonSchema,
  known: Known,
  wrong: number,
): string {
  if (FIXED[name]) return random.pick(FIXED[name]);
  if (random.chance(wrong)) return anyText(random).slice(0, 3000);
  const text = jsonFor(random, schema, known, 0, name);
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** A text in a path or query: escaped, or as bytes that are not, or as escapes that mean nothing. */
function escaped(random: Random, text: string, wrong: number): string {
  if (random.chance(wrong / 5)) return random.pick(ESCAPES);
  // A space or line break would end the path, and these three would make it another one.
  if (random.chance(wrong / 5)) return bytesOf(text).replaceAll(/[\t\n\r /?#]/g, '');
  if (random.chance(wrong / 50)) return random.pick([...NO_UTF8, '\0', 'x y', '\x7f', 'x'.repeat(20_000)]);
  return bytesOf(text)
    .split('')
    .map(byte => (/[\w.~!*'()-]/.test(byte) ? byte : `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`))
    .join('');
}

/** A header's value, as bytes of UTF-8; sometimes with the control characters that a header cannot have. */
function headerText(random: Random, text: string, wrong: number): string {
  const bytes = bytesOf(text.slice(0, 3000)).replaceAll(/[\r\n]/g, '');
  return random.chance(wrong / 10) ? bytes : bytes.replaceAll(/[\0-\x08\x0b-\x1f\x7f]/g, '?');
}

/** Upload-Metadata: good pairs, values that hold U+0000 or half a surrogate, and what is no pair. */
function metadata(random: Random): string {
  const value = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
  return random.pick([
    () => `filename ${value('leaf.jpg')}`,
    () => `id ${value('att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2')}`,
    () => `filename ${value('a\0b')},id ${value('att_\0')}`,
    () => `filename ${value(Buffer.from(random.pick(NO_UTF8), 'latin1'))}`,
    () => `filename ${value(anyText(random).slice(0, 500))}`,
    () => `${random.pick(KEYS)} ${value('a')},__proto__ ${value('b')}`,
    () => random.pick(['filename', ',,, ,', 'a b c', 'filename !!!', 'a,a', 'x'.repeat(4097)]),
  ])();
}
