import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import { readJson } from '../../../platform/http/json.ts';
import { packetHash } from './hash.ts';
import { canonicalJson } from './jcs.ts';

test('the published vector hashes as published', () => {
  const header = { timestamp: '2024-01-01T12:00:00Z', geoid: 'g', type: 'note', id: '01' };
  const body = { message: 'Hé 🌍', attachments: [] };
  expect(packetHash(canonicalJson(header), canonicalJson(body))).toBe(
    '7df491be8c46644fd58e276eb6f1d42c338fddaeba117850650e76df368444b5',
  );
});

test('any JSON value has the canonical text that the reference implementation gives it', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), value => {
      fc.pre(JSON.stringify(value).isWellFormed());
      const read = readJson(JSON.stringify(value));
      expect(canonicalJson(read)).toBe(canonicalize(read));
    }),
    { numRuns: runs(2000) },
  );
});

test('objects of few keys and of many are ordered alike', () => {
  const keys = fc.uniqueArray(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 80 });
  fc.assert(
    fc.property(keys, keys => {
      const value = Object.fromEntries(keys.map((key, n) => [key, n]));
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
    { numRuns: runs(500) },
  );
});

test('keys are ordered by UTF-16 code units, also where they look like numbers or like __proto__', () => {
  const text =
    '{"\u20ac":1,"\\r":2,"\ufb33":3,"1":4,"\u{1f600}":5,"\u0080":6,"\u00f6":7,"10":8,"9":9,"__proto__":10}';
  expect(canonicalJson(readJson(text))).toBe(
    '{"\\r":2,"1":4,"10":8,"9":9,"__proto__":10,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
  );
});

test('the hash is plain SHA-256 over both texts', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (header, body) => {
      const expected = createHash('sha256').update(header, 'utf8').update(body, 'utf8').digest('hex');
      expect(packetHash(header, body)).toBe(expected);
    }),
    { numRuns: runs(100) },
  );
});
