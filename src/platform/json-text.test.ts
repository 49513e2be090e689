import fc from 'fast-check';
import { expect, test } from 'vitest';
import { runs } from '../../test/helpers/property.ts';
import { parseEscapedKeys, parseEscapedKeysInTurns, parseJsonText } from './json-text.ts';

/** Keys of V8's mistake: `\` is met first, then what begins with it when it is escaped. */
const key = fc.oneof(fc.constantFrom('\\', '\\"', '"', '\n', '\n"', '__proto__', '', 'a', '0'), fc.string());
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'binary' }).map(text => text.toWellFormed()),
    // Without -0, which JSON writes as 0.
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(number => number + 0),
    fc.constantFrom(true, false, null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map(ofEntries),
  ),
}));

function ofEntries(entries: [string, unknown][]): object {
  const object = {};
  for (const [name, held] of entries)
    Object.defineProperty(object, name, {
      value: held,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  return object;
}

test('what was written as JSON is read as it was, whatever its keys', async () => {
  const spaces = fc.constantFrom(undefined, 1, '\t', '\r\n ');
  await fc.assert(
    fc.asyncProperty(value, spaces, async (written, space) => {
      const text = JSON.stringify(written, null, space);
      for (const read of [parseJsonText(text), parseEscapedKeys(text)]) {
        expect(JSON.stringify(read, null, space)).toBe(text);
        expect(read).toEqual(written);
      }
      const inTurns = await parseEscapedKeysInTurns(text, async () => {});
      expect(JSON.stringify(inTurns, null, space)).toBe(text);
    }),
    { numRuns: runs(100) },
  );
});

test('keys that JSON.parse mistakes are read right', () => {
  for (const text of ['{"\\\\":1,"k":0}', '{"\\n":1,"k":0}', '{"\\"":1,"k":0}', '{"\\u0041":1,"k":0}']) {
    const [first] = Object.keys(parseJsonText(text) as object);
    expect(first).toBe(JSON.parse(text.slice(1, text.indexOf(':'))));
  }
});

test('of equal keys the last wins at the place of the first, also if one is escaped', () => {
  expect(JSON.stringify(parseJsonText('{"a":1,"b":2,"\\u0061":[ ]}'))).toBe('{"a":[],"b":2}');
});

test('a text that is not JSON is refused as by JSON.parse', () => {
  for (const text of ['', '{"\\n":1', '{"\\n":1,}', '{"\\n":01}', '{"\\n" 1}', '["\\n":1]', '{"\\n":1}x']) {
    expect(() => parseJsonText(text), text).toThrow(SyntaxError);
  }
});

test('a large text is read in turns', async () => {
  const members = Array.from({ length: 9000 }, (_, number) => [`${number}\n`, number]);
  let turns = 0;
  const read = await parseEscapedKeysInTurns(JSON.stringify(Object.fromEntries(members)), async () => {
    turns++;
  });
  expect(read).toEqual(Object.fromEntries(members));
  expect(turns).toBe(5);
});
