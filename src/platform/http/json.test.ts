import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../../test/helpers/property.ts';
import { pacer } from '../concurrency/pacer.ts';
import { MAX_CONTAINERS, MAX_JSON_DEPTH, MAX_VALUES, readJson, readJsonInTurns } from './json.ts';

const refused = (text: string) => {
  try {
    readJson(text);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error(`was read: ${text.slice(0, 100)}`);
};

test('any JSON whose numbers fit doubles is read unchanged', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), text => {
      fc.pre(!/\\u(d[89a-f]|0000)/i.test(text));
      expect(JSON.stringify(readJson(text))).toBe(text);
    }),
    { numRuns: runs(1000) },
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
    { numRuns: runs(2000) },
  );
});

test('an integer that is written with zeros after a point is refused where the integer is', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), fc.nat(3), (integer, zeros) => {
      const text = `[${integer}.0${'0'.repeat(zeros)}]`;
      const isKept = BigInt(Number(integer)) === integer || String(Number(integer)) === String(integer);
      if (isKept) expect(readJson(text)).toEqual([Number(`${integer}.0`)]);
      else expect(refused(text)).toContain('a double cannot hold');
    }),
    { numRuns: 1000 },
  );
  expect(refused('{"n":9007199254740993.0}')).toBe('n: a double cannot hold 9007199254740993.0 exactly');
  const fractions = '[9007199254740993.5,9007199254740993e0,0.1,1.00,4503599627370497.5]';
  expect(readJson(fractions)).toEqual(JSON.parse(fractions));
});

test('an integer beyond 2^53 is read again as a double of it is written', () => {
  const numbers = fc.double({ min: -1e21, max: 1e21, noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(numbers.map(Math.round), number => {
      expect(readJson(JSON.stringify([number]))).toEqual(JSON.parse(JSON.stringify([number])));
    }),
    { numRuns: runs(1000) },
  );
});

test('numbers keep their usual freedom, and overflow is refused', () => {
  expect(readJson('[6.02e23, 0.1, 1e-400, 9007199254740992, -0]')).toEqual([
    6.02e23, 0.1, 0, 9007199254740992, -0,
  ]);
  expect(refused('{"a":{"b":9007199254740993}}')).toBe('a.b: a double cannot hold 9007199254740993 exactly');
  expect(refused('[1e400]')).toMatch(/^\[0\]: a double cannot hold 1e400/);
  expect(refused(`[${'9'.repeat(400)}]`)).toMatch(/^\[0\]: a double cannot hold 9/);
});

test('a number is looked at wherever JSON lets it stand, and digits of a text are not numbers', () => {
  for (const text of [
    '9007199254740993',
    '[1,-9007199254740993]',
    '{"a":\t9007199254740993 }',
    '[\n9007199254740993]',
    '-1e999',
    '[0,1.25E+400]',
    '[false,9007199254740993]',
    '{"\\u0061":[{"b":true},-9007199254740993]}',
    '[1e0000000400]',
  ]) {
    expect(refused(text)).toContain('a double cannot hold');
  }
  const hash = 'e410359d15914171379007199254740993e400';
  expect(readJson(`["${hash}","1, 9007199254740993"]`)).toEqual([hash, '1, 9007199254740993']);
});

test('strings that UTF-8 or the database cannot hold are refused in values and in keys', () => {
  expect(refused('{"a":["\\ud800"]}')).toBe('a[0]: contains half of a surrogate pair');
  expect(refused('{"x":{"b\\udc00":1}}')).toMatch(/^x\.b.: contains half of a surrogate pair$/u);
  expect(refused('{"a":"\\u0000"}')).toBe('a: contains the character U+0000');
  expect(readJson('"\\ud83c\\udf0d"')).toBe('🌍');
});

test('the last of duplicate keys wins, and __proto__ is a key like others', () => {
  expect(readJson('{"a":1,"a":2}')).toEqual({ a: 2 });
  const value = readJson('{"__proto__":{"x":1}}') as object;
  expect(Object.keys(value)).toEqual(['__proto__']);
  expect((value as { x?: number }).x).toBeUndefined();
});

test(`${MAX_JSON_DEPTH} levels are read, one more is refused, brackets in strings do not count`, () => {
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect(readJson(nested(MAX_JSON_DEPTH))).toBeInstanceOf(Array);
  expect(refused(nested(MAX_JSON_DEPTH + 1))).toContain('nested more than');
  expect(refused(nested(100_000))).toContain('nested more than');
  expect(readJson(JSON.stringify('['.repeat(500)))).toHaveLength(500);
});

test('invalid JSON is refused with the reason', () => {
  for (const text of ['', '{', "{'a':1}", '[01]', 'NaN', '{"a":1,}']) {
    expect(refused(text)).toMatch(/^the body is not valid JSON: /);
  }
});

test('arrays and objects are counted before anything is parsed, and one too many is refused', () => {
  for (const text of ['[]', '{}', '{"a":[]}'.slice(5, 7)]) {
    const list = (count: number) =>
      `[${Array(count - 1)
        .fill(text)
        .join(',')}]`;
    expect(readJson(list(MAX_CONTAINERS))).toHaveLength(MAX_CONTAINERS - 1);
    expect(refused(list(MAX_CONTAINERS + 1))).toBe(
      `[${MAX_CONTAINERS - 1}]: the body has more than ${MAX_CONTAINERS} arrays and objects`,
    );
  }
  expect(refused('['.repeat(10) + '{},'.repeat(MAX_CONTAINERS))).toContain('more than');
  expect(readJson(JSON.stringify('[{'.repeat(MAX_CONTAINERS)))).toHaveLength(2 * MAX_CONTAINERS);
});

test('values are counted, keys and what is in strings are not, and one too many is refused', () => {
  for (const text of ['1', '-1.5e3', 'true', 'false', 'null', '"a,b"', '"\\""']) {
    const list = (count: number) =>
      `[${Array(count - 1)
        .fill(text)
        .join(',')}]`;
    expect(readJson(list(MAX_VALUES))).toHaveLength(MAX_VALUES - 1);
    expect(refused(list(MAX_VALUES + 1)), text).toMatch(/^\[262143\]: the body has more than 262144 values$/);
  }
  const members = (count: number) => `{${Array.from({ length: count }, (_, n) => `"k${n}": 1`).join(', ')}}`;
  expect(Object.keys(readJson(members(MAX_VALUES - 1)) as object)).toHaveLength(MAX_VALUES - 1);
  expect(refused(members(MAX_VALUES))).toMatch(/^k262143: the body has more than/);
});

test('no text is counted as more than it holds', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
      const text = JSON.stringify(value, null, 1);
      // As many copies as just fit by the counts that a walk over the value gives.
      const [values, containers] = countOf(value);
      const copies = Math.floor(Math.min((MAX_VALUES - 1) / values, (MAX_CONTAINERS - 1) / containers));
      fc.pre(copies * text.length < 2_000_000 && !/\\u(d[89a-f]|0000)/i.test(text));
      expect(readJson(`[${Array(copies).fill(text).join(',')}]`)).toHaveLength(copies);
      expect(() =>
        readJson(
          `[${Array(copies + 1)
            .fill(text)
            .join(',')}]`,
        ),
      ).toThrow('more than');
    }),
    { numRuns: runs(30) },
  );
});

/** Values and containers in a value, itself included. */
function countOf(value: unknown): [values: number, containers: number] {
  if (value === null || typeof value !== 'object') return [1, 0];
  const inside = Object.values(value).map(countOf);
  const sum = (which: 0 | 1) => inside.reduce((total, counts) => total + counts[which], 1);
  return [sum(0), sum(1)];
}

test('a fault behind keys and strings with escapes is named by its path', () => {
  expect(refused('{"a\\"b":{"c":[0,{"d":"\\u0000"}]}}')).toBe('a"b.c[1].d: contains the character U+0000');
  expect(refused('{"x":[],"y":{},"z":[[],[1,1e999]]}')).toMatch(/^z\[1\]\[1\]: a double cannot hold 1e999/);
  const long = 'k'.repeat(500);
  expect(refused(`{"${long}":{"${long}":1e999}}`)).toMatch(/^k{200}: a double cannot hold 1e999/);
});

test('a large text is checked in pieces and parsed in turns of their own, and read as any other', async () => {
  const text = `[${'1e100,'.repeat(200_000)}{"a":1}]`;
  const weights: number[] = [];
  const pace = pacer(1000);
  const noting = (weight: number) => {
    weights.push(weight);
    return pace(weight);
  };
  expect(await readJsonInTurns(text, noting)).toEqual(readJson(text));
  // Five pieces, the parsing, and the turn after it.
  expect(weights).toHaveLength(7);
  expect(Math.max(...weights.slice(0, 5))).toBeLessThan(20_000);
  await expect(readJsonInTurns(`${text.slice(0, -1)},1e999]`, pace)).rejects.toThrow(
    '[200001]: a double cannot hold 1e999',
  );
  await expect(readJsonInTurns(text.slice(0, -1), pace)).rejects.toThrow('not valid JSON');
});

test('the pieces in which a large text is checked may end within any string, escape, number or word', async () => {
  const items = ['"é\\u00e9\\\\\\""', '12345678901234567e3', 'false', 'true', '{"a:b":[null]}', '-0.5e-7'];
  for (let shift = 0; shift < 12; shift++) {
    const text = `[${' '.repeat(shift)}${Array(8000).fill(items.join(',')).join(',')}]`;
    expect(await readJsonInTurns(text, () => undefined)).toEqual(JSON.parse(text));
  }
  const tooMany = `[${Array(MAX_VALUES / 4)
    .fill(items.slice(0, 4).join(','))
    .join(',')}]`;
  await expect(readJsonInTurns(tooMany, () => undefined)).rejects.toThrow('more than 262144 values');
});
