import { request as send } from 'node:http';
import { deflateSync, gzipSync } from 'node:zlib';
import type { JsonSchema, Operation } from '../helpers/definition.ts';
import type { Random } from './random.ts';
import { anyJson, anyText, jsonFor, type Known } from './values.ts';

/** A request as it goes over the wire. */
export interface FuzzRequest {
  operation: Operation;
  path: string;
  headers: Record<string, string>;
  body: Buffer | undefined;
}

export interface FuzzAnswer {
  status: number;
  type: string;
  body: Buffer;
}

/** Parameters of which a good value would have the answer wait, or change who is asking. */
const FIXED: Known = { wait: ['0', '0.001'] };

const TYPES = [
  'application/json',
  'application/json; charset=utf-8',
  'application/merge-patch+json',
  'text/plain',
  'multipart/form-data; boundary=x',
  'application/x-ndjson',
  'nonsense',
  '',
];
const ACCEPTS = [
  '*/*',
  'application/json',
  'text/csv',
  'application/geo+json',
  'application/n-triples',
  'image/*;q=0.5',
  'text/html, */*;q=0',
  ';;',
  'a/b;q=2',
];
const ENCODINGS = ['gzip', 'deflate', 'br', 'identity', 'gzip, gzip'];
/** A lone surrogate, an overlong U+0000, half a character and bytes that are no UTF-8. */
const BROKEN_ESCAPES = ['%ED%A0%80', '%C0%80', '%E7%95', '%FF', '%zz', '%', '%00'];

/** A request to an operation: most are good in most places, each place is broken now and then. */
export function makeRequest(random: Random, operation: Operation, known: Known): FuzzRequest {
  const wrong = random.pick([0, 0.05, 0.3]);
  const parameter = (name: string, schema: JsonSchema) => parameterText(random, name, schema, known, wrong);
  const schemas = new Map(
    operation.parameters.map(({ in: place, name, schema }) => [`${place} ${name}`, schema]),
  );
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    escaped(random, parameter(name, schemas.get(`path ${name}`) ?? { type: 'string' }) || 'x'),
  );
  const query = operation.parameters
    .filter(({ in: place, required }) => place === 'query' && random.chance(required ? 0.95 : 0.3))
    .map(({ name, schema }) => `${name}=${escaped(random, parameter(name, schema))}`);
  if (random.chance(0.03))
    query.push(
      `${random.pick(['__proto__', 'limit', 'unknown', 'geoId'])}=${escaped(random, anyText(random))}`,
    );
  const headers: Record<string, string> = {};
  for (const { in: place, name, required, schema } of operation.parameters) {
    if (place === 'header' && random.chance(required ? 0.95 : 0.3))
      headers[name] = headerText(parameter(name, schema));
  }
  if ('tus-resumable' in headers && !random.chance(wrong)) headers['tus-resumable'] = '1.0.0';
  if ('upload-metadata' in headers) headers['upload-metadata'] = metadata(random);
  if (random.chance(0.1)) headers.accept = random.pick(ACCEPTS);
  if (random.chance(0.05)) headers['content-language'] = headerText(anyText(random));
  const body = bodyOf(random, operation, known, wrong, headers);
  const slash = random.chance(0.03) ? '/' : '';
  return {
    operation,
    path: `${path}${slash}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers,
    body,
  };
}

function parameterText(
  random: Random,
  name: string,
  schema: JsonSchema,
  known: Known,
  wrong: number,
): string {
  if (FIXED[name]) return random.pick(FIXED[name]);
  if (random.chance(wrong)) return anyText(random).slice(0, 2000);
  if (known[name] && random.chance(0.8)) return random.pick(known[name] as readonly string[]);
  const text = jsonFor(random, schema, known, 0, name);
  return text.startsWith('"') ? (JSON.parse(text) as string) : text;
}

/** Escapes a text for a URL; sometimes it becomes one that means nothing. */
function escaped(random: Random, text: string): string {
  if (random.chance(0.02)) return random.pick(BROKEN_ESCAPES);
  return encodeURIComponent(text.toWellFormed());
}

/** What Node lets through in a header: no control characters, and bytes of Latin-1 alone. */
function headerText(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?').slice(0, 3000);
}

/** Upload-Metadata: good pairs, ids that hold U+0000 or half a surrogate, and what is no pair. */
function metadata(random: Random): string {
  const value = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64');
  return random.pick([
    `filename ${value('leaf.jpg')}`,
    `id ${value('att_01JD7Q2M8XW3N5R6T8V9Y0Z1A2')}`,
    `filename ${value('a\0b')},id ${value('att_\0')}`,
    `filename ${value(Buffer.from([0xed, 0xa0, 0x80, 0xff]))}`,
    `filename ${value(anyText(random).slice(0, 500))}`,
    'filename',
    ',,, ,',
    'a b c',
    'filename !!!',
  ]);
}

function bodyOf(
  random: Random,
  operation: Operation,
  known: Known,
  wrong: number,
  headers: Record<string, string>,
): Buffer | undefined {
  const types = Object.keys(operation.body);
  if (types.length === 0 && !random.chance(0.05)) return undefined;
  const type = types.length === 0 || random.chance(0.03) ? random.pick(TYPES) : random.pick(types);
  if (type !== '') headers['content-type'] = type;
  const schema = operation.body[type];
  if (type.startsWith('multipart/')) {
    headers['content-type'] = 'multipart/form-data; boundary=x';
    return formOf(random, wrong);
  }
  if (type === 'application/offset+octet-stream') return Buffer.from(anyText(random));
  const text =
    schema === undefined || random.chance(0.05) ? anyJson(random) : jsonFor(random, schema, known, wrong);
  const lines = type === 'application/x-ndjson' && schema?.type === 'array';
  const bytes = Buffer.from(lines ? jsonFor(random, schema.items, known, wrong) : text);
  if (random.chance(0.02)) bytes[random.below(bytes.length)] = random.below(256);
  if (!random.chance(0.06)) return bytes;
  const encoding = random.pick(ENCODINGS);
  headers['content-encoding'] = encoding;
  if (random.chance(0.2)) return bytes;
  if (encoding === 'gzip') return gzipSync(bytes);
  return encoding === 'deflate' ? deflateSync(bytes) : bytes;
}

function formOf(random: Random, wrong: number): Buffer {
  if (random.chance(wrong)) return Buffer.from(random.pick(['', '--x--\r\n', '--x\r\n', anyText(random)]));
  const name = headerText(anyText(random).slice(0, 300)).replaceAll('"', '');
  const id = random.chance(0.3)
    ? `--x\r\ncontent-disposition: form-data; name="id"\r\n\r\n${anyText(random).slice(0, 900)}\r\n`
    : '';
  const file = `--x\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\n${anyText(random)}\r\n`;
  return Buffer.from(`${id}${file}--x--\r\n`);
}

/** Sends a request and reads its answer; of one without an end only what tells that it began. */
export function exchange(url: string, request: FuzzRequest, cookie: string | undefined): Promise<FuzzAnswer> {
  const { operation, path, headers, body } = request;
  const { hostname, port } = new URL(url);
  const options = {
    method: operation.method,
    hostname,
    port,
    path,
    headers: { ...headers, ...(cookie && { cookie }) },
  };
  return new Promise((resolve, reject) => {
    const sent = send(options, response => {
      const { statusCode: status = 0 } = response;
      const type = (response.headers['content-type'] ?? '').split(';')[0] as string;
      const chunks: Buffer[] = [];
      if (type === 'text/event-stream') {
        resolve({ status, type, body: Buffer.alloc(0) });
        sent.destroy();
        return;
      }
      response.on('data', chunk => chunks.push(chunk));
      response.on('end', () => resolve({ status, type, body: Buffer.concat(chunks) }));
      response.on('error', reject);
    });
    sent.on('error', reject);
    if (body !== undefined) sent.setHeader('content-length', body.length);
    sent.end(body);
  });
}
