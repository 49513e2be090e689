import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalJson, packetHash } from './canonical.ts';

test('the hash of a packet is that of the documented vector', async () => {
  const packet = {
    Header: { type: 'note', timestamp: '2024-01-01T12:00:00Z', id: '01', geoid: 'g' },
    Body: { message: 'Hé 🌍', attachments: [] },
  };
  expect(await packetHash(packet)).toBe('7df491be8c46644fd58e276eb6f1d42c338fddaeba117850650e76df368444b5');
});

test('every JSON value has the canonical form of RFC 8785', () => {
  fc.assert(
    fc.property(fc.json(), text => {
      const value = JSON.parse(text);
      expect(canonicalJson(value)).toBe(canonicalize(value));
    }),
  );
  const odd = '{"10":1,"9":2,"é":3,"__proto__":{"b":-0,"a":1e21},"\\ud83d\\ude00":4,"\\uffff":5}';
  expect(canonicalJson(JSON.parse(odd))).toBe(canonicalize(JSON.parse(odd)));
});
