import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MAX_JSON_DEPTH, readJson } from './json.ts';

const refused = (text: string) => {
  try {
    readJson(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`was read: ${text.slice(0, 100)}`);
};

test('whatever JSON.parse reads and a double holds is read the same', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), text => {
      fc.pre(!/\\u(d[89a-f]|0000)/i.test(text));
      expect(readJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 1000 },
  );
});

test('integers are read to the last digit or refused, never rounded', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), integer => {
      const text = `{"deep":[{"n":${integer}}]}`;
      if (BigInt(Number(integer)) === integer || String(Number(integer)) === String(integer))
        expect(readJson(text)).toEqual({ deep: [{ n: Number(integer) }] });
      else expect(refused(text)).toContain('deep[0].n');
    }),
    { numRuns: 2000 },
  );
});

test('an integer beyond 2^53 is read again as a double of it is written', () => {
  const numbers = fc.double({ min: -1e21, max: 1e21, noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(numbers.map(Math.round), number => {
      expect(readJson(JSON.stringify([number]))).toEqual(JSON.parse(JSON.stringify([number])));
    }),
    { numRuns: 1000 },
  );
});

test('numbers keep their usual freedom, and overflow is refused', () => {
  expect(readJson('[6.02e23, 0.1, 1e-400, 9007199254740992, -0]')).toEqual([
    6.02e23, 0.1, 0, 9007199254740992, -0,
  ]);
  expect(refused('{"a":{"b":9007199254740993}}')).toMatch(/^a\.b: 9007199254740993/);
  expect(refused('[1e400]')).toMatch(/^\[0\]: 1e400/);
  expect(refused(`[${'9'.repeat(400)}]`)).toMatch(/^\[0\]: 9/);
});

test('a number is looked at wherever JSON lets it stand, and digits of a text are not numbers', () => {
  for (const text of [
    '9007199254740993',
    '[1,-9007199254740993]',
    '{"a":\t9007199254740993 }',
    '[\n9007199254740993]',
    '-1e999',
    '[0,1.25E+400]',
  ]) {
    expect(refused(text)).toContain('is not a number that a double holds exactly');
  }
  const hash = 'e410359d15914171379007199254740993e400';
  expect(readJson(`["${hash}","1, 9007199254740993"]`)).toEqual([hash, '1, 9007199254740993']);
});

test('strings that UTF-8 or the database cannot hold are refused in values and in keys', () => {
  expect(refused('{"a":["\\ud800"]}')).toBe('a[0]: holds half of a surrogate pair');
  expect(refused('{"x":{"b\\udc00":1}}')).toMatch(/^x\.b.: holds half of a surrogate pair$/u);
  expect(refused('{"a":"\\u0000"}')).toBe('a: holds the character U+0000');
  expect(readJson('"\\ud83c\\udf0d"')).toBe('🌍');
});

test('of duplicate keys the last wins, and __proto__ is a key like others', () => {
  expect(readJson('{"a":1,"a":2}')).toEqual({ a: 2 });
  const value = readJson('{"__proto__":{"x":1}}') as object;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect((value as { x?: number }).x).toBeUndefined();
});

test(`${MAX_JSON_DEPTH} levels are read, one more is refused, brackets in strings do not count`, () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect(readJson(nested(MAX_JSON_DEPTH))).toBeInstanceOf(Array);
  expect(refused(nested(MAX_JSON_DEPTH + 1))).toContain('nested deeper than');
  expect(refused(nested(100_000))).toContain('nested deeper than');
  expect(readJson(JSON.stringify('['.repeat(500)))).toHaveLength(500);
});

test('what is not JSON is refused with the reason', () => {
  for (const text of ['', '{', "{'a':1}", '[01]', 'NaN', '{"a":1,}']) {
    expect(refused(text)).toMatch(/^the body is not valid JSON: /);
  }
});
