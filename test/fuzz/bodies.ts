import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { packetHash } from '../../src/packet-service/core/packet-format/hash.ts';
import { canonicalJson } from '../../src/packet-service/core/packet-format/jcs.ts';
import type { JsonSchema, Operation } from '../helpers/definition.ts';
import { anyJson, brokenJson, type JsonText, jsonFor, largeJson } from './json.ts';
import type { Random } from './random.ts';
import { anyText, bytesOf, type Known, NO_UTF8 } from './texts.ts';

/** A body, and the headers that say what it is. */
export interface Content {
  body: Buffer;
  headers: [name: string, value: string][];
}

const TYPES = [
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'application/merge-patch+json',
  'application/x-www-form-urlencoded',
  'text/plain',
  'multipart/form-data',
  'application/x-ndjson',
  'nonsense',
  '',
  '__proto__',
];
const ENCODINGS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: bytes => gzipSync(bytes),
  'x-gzip': bytes => gzipSync(bytes),
  deflate: bytes => deflateSync(bytes),
  'deflate ': bytes => deflateRawSync(bytes),
  br: bytes => brotliCompressSync(bytes),
  zstd: bytes => zstdCompressSync(bytes),
  identity: bytes => bytes,
  'gzip, gzip': bytes => gzipSync(gzipSync(bytes)),
};
/** A PNG of one pixel and the beginning of a PDF: what pictures and documents are looked at for. */
const FILES = [
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
  Buffer.from('%PDF-1.4\n%%EOF\n'),
];

/** A body for an operation, of a type that it takes or of another; undefined for none. */
export function contentFor(
  random: Random,
  operation: Operation,
  known: Known,
  wrong: number,
): Content | undefined {
  const types = Object.keys(operation.body);
  if (types.length === 0 && !random.chance(0.05)) return undefined;
  if (random.chance(0.02)) return undefined;
  const type = types.length === 0 || random.chance(0.03) ? random.pick(TYPES) : random.pick(types);
  const content = contentOf(random, operation, type, known, wrong);
  return random.chance(0.08) ? encoded(random, content) : content;
}

function contentOf(random: Random, operation: Operation, type: string, known: Known, wrong: number): Content {
  const headers: Content['headers'] = type === '' ? [] : [['content-type', type]];
  if (type === 'multipart/form-data') return formOf(random, known, wrong);
  if (type === 'application/offset+octet-stream') return { headers, body: Buffer.from(anyText(random)) };
  const body = Buffer.from(jsonBody(random, operation, type, known, wrong));
  if (!random.chance(0.02) || body.length === 0) return { headers, body };
  const at = random.below(body.length);
  const bytes = Buffer.from(random.pick([...NO_UTF8, '\0', '"', '\\']), 'latin1');
  return { headers, body: Buffer.concat([body.subarray(0, at), bytes, body.subarray(at + 1)]) };
}

function jsonBody(
  random: Random,
  { method, path, body }: Operation,
  type: string,
  known: Known,
  wrong: number,
): JsonText {
  if (random.chance(0.01)) return brokenJson(random);
  if (random.chance(0.005)) return largeJson(random);
  const schema = Object.hasOwn(body, type) ? body[type] : undefined;
  if (schema === undefined || random.chance(0.03)) return anyJson(random);
  if (`${method} ${path}` === 'POST /packets' && random.chance(0.7)) return finalized(random, schema, known);
  if (type !== 'application/x-ndjson') return jsonFor(random, schema, known, wrong);
  const lines = Array.from({ length: 1 + random.below(3) }, () =>
    jsonFor(random, schema.items, known, wrong),
  );
  return lines.join(random.pick(['\n', '\n', '\r\n', '\n\n']));
}

/** A packet whose hash is right, as a phone finalizes it. */
function finalized(random: Random, schema: JsonSchema, known: Known): JsonText {
  const [Header, Body, Footer] = ['Header', 'Body', 'Footer'].map(part =>
    JSON.parse(jsonFor(random, schema.properties[part], known, 0)),
  );
  try {
    const hash = packetHash(canonicalJson(Header), canonicalJson(Body));
    const lang = random.pick(['und', 'rw', 'x-a']);
    const footer = JSON.stringify({ ...Footer, hash, enc: 'none', lang });
    return `{"Header":${canonicalJson(Header)},"Body":${canonicalJson(Body)},"Footer":${footer}}`;
  } catch {
    // What JSON.parse made Infinity has no canonical form.
    return JSON.stringify({ Header, Body, Footer });
  }
}

/** A content as an encoding has it: whole, cut, changed in the middle, not encoded at all, or a bomb. */
function encoded(random: Random, { headers, body }: Content): Content {
  const name = random.pick(Object.keys(ENCODINGS));
  const encode = ENCODINGS[name] as (bytes: Buffer) => Buffer;
  const bytes = encode(body);
  const changed = Buffer.from(bytes);
  if (changed.length > 0) changed[random.below(changed.length)] = random.below(256);
  const sent = random.pick([
    () => bytes,
    () => bytes,
    () => bytes.subarray(0, random.below(bytes.length + 1)),
    () => changed,
    () => body,
    () => Buffer.concat([bytes, bytes]),
    () => encode(Buffer.alloc(1_500_000, 0x20)),
  ])();
  return { headers: [...headers, ['content-encoding', name.trim()]], body: sent };
}

/** A form: a file and fields in it, or something that is hardly one. */
function formOf(random: Random, known: Known, wrong: number): Content {
  const boundary = random.chance(wrong) ? random.pick(['', 'y', 'x'.repeat(200), '"', '\xff']) : 'x';
  const headers: Content['headers'] = [
    ['content-type', `multipart/form-data${boundary === '' ? '' : `; boundary=${boundary}`}`],
  ];
  if (random.chance(wrong)) {
    const text = random.pick([
      '',
      '--x',
      '--x--\r\n',
      '--x\r\n',
      '--x\r\n\r\n',
      `--x\r\n${'a: b\r\n'.repeat(3000)}`,
    ]);
    return { headers, body: Buffer.from(text) };
  }
  const name = (text: string) => bytesOf(text.slice(0, 3000)).replaceAll(/[\r\n"]/g, '');
  const part = (disposition: string, bytes: Buffer) =>
    Buffer.concat([
      Buffer.from(`--x\r\ncontent-disposition: form-data; ${disposition}\r\n\r\n`, 'latin1'),
      bytes,
      Buffer.from('\r\n'),
    ]);
  const file = () => {
    const field = random.chance(wrong) ? name(anyText(random)) : 'file';
    const bytes = random.chance(0.7) ? random.pick(FILES) : Buffer.from(bytesOf(anyText(random)), 'latin1');
    return part(`name="${field}"; filename="${name(anyText(random))}"`, bytes);
  };
  const field = () => {
    const id = known.id && random.chance(0.5) ? random.pick(known.id) : anyText(random);
    return part(
      `name="${random.pick(['id', 'id', '__proto__', 'toString', ''])}"`,
      Buffer.from(bytesOf(id), 'latin1'),
    );
  };
  const count = random.chance(wrong) ? random.pick([0, 2, 2000]) : 1;
  const parts = [...(random.chance(0.3) ? [field()] : []), ...Array.from({ length: count }, file)];
  const end = random.chance(wrong) ? '' : '--x--\r\n';
  return { headers, body: Buffer.concat([...parts, Buffer.from(end)]) };
}
