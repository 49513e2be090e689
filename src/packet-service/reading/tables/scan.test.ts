import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { parseJsonText } from '../../../platform/json-text.ts';
import { canonicalJson } from '../../core/packet-format/jcs.ts';
import { fieldScanner, rootField } from './scan.ts';

type Flat = Record<string, unknown>;

/** The values that a scanner finds in one text after another, parsed. */
function scanned(texts: readonly string[], hasInner: (name: string) => boolean = () => true): Flat[] {
  let bytes: Buffer;
  let found: Flat;
  const scan = fieldScanner(
    name => ({ column: 0, hasInner: hasInner(name) }),
    ({ name }, start, end) => {
      found[name] = parseJsonText(bytes.toString('utf8', start, end));
    },
  );
  const root = rootField(key => key);
  return texts.map(text => {
    found = Object.create(null);
    // Inside other bytes, as rows are.
    bytes = Buffer.from(`é${text}"}]`);
    expect(scan(bytes, 2, root)).toBe(2 + Buffer.byteLength(text));
    return found;
  });
}

/** Flattens a parsed value, for comparison. */
function flattened(value: object, hasInner: (name: string) => boolean = () => true, prefix = ''): Flat {
  const flat: Flat = Object.create(null);
  for (const [key, inner] of Object.entries(value)) {
    const name = prefix + key;
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    if (isObject && hasInner(name) && Object.keys(inner).length > 0) {
      Object.assign(flat, flattened(inner, hasInner, `${name}.`));
    } else flat[name] = inner;
  }
  return flat;
}

const key = fc.oneof(
  fc.constantFrom('a', 'b', 'ab', '"', '\\', 'é', '\n', '😀', 'constructor'),
  fc.string({ unit: 'grapheme' }),
);
const object = fc.dictionary(key, fc.jsonValue({ maxDepth: 4 }));

/** JSON values without dots in names: a name with a dot would equal a nested name. */
function asJson(value: object): object {
  return JSON.parse(JSON.stringify(value), (_, held) =>
    typeof held === 'object' && held !== null && !Array.isArray(held)
      ? Object.fromEntries(Object.entries(held).map(([name, inner]) => [name.replaceAll('.', ''), inner]))
      : held,
  );
}

test('the scanner finds the same values as a parser, whatever the previous texts were', () => {
  fc.assert(
    fc.property(fc.array(object, { minLength: 1, maxLength: 6 }), objects => {
      const values = objects.map(asJson);
      expect(scanned(values.map(canonicalJson))).toEqual(values.map(value => flattened(value)));
    }),
    { numRuns: runs(500) },
  );
});

test('an object whose members have no columns is a value', () => {
  fc.assert(
    fc.property(fc.array(object, { minLength: 1, maxLength: 3 }), objects => {
      const values = objects.map(asJson);
      const isShort = (name: string) => name.length < 3;
      expect(scanned(values.map(canonicalJson), isShort)).toEqual(
        values.map(value => flattened(value, isShort)),
      );
    }),
    { numRuns: runs(100) },
  );
});

test.each(['{"a":"x', '{"a":[1,2', '{"a":"x""b":2}', '{"a', '{"a":"x\\', '{"a":{"b":"c"'])(
  'a text that is not canonical JSON is an error, never half a row: %s',
  text => {
    const scan = fieldScanner(
      () => ({ column: 0, hasInner: true }),
      () => {},
    );
    expect(() =>
      scan(
        Buffer.from(text),
        0,
        rootField(key => key),
      ),
    ).toThrow('a stored text');
  },
);

test('more fields than are remembered are still found', () => {
  const wide = Object.fromEntries(Array.from({ length: 25_000 }, (_, n) => [`k${n}`, n]));
  const other = Object.fromEntries(Array.from({ length: 25_000 }, (_, n) => [`l${n}`, n]));
  expect(scanned([wide, other, wide].map(value => canonicalJson(value)))).toEqual([wide, other, wide]);
});
