import fc from 'fast-check';
import { DisplayString, parseList, Token } from 'structured-headers';
import { expect, test } from 'vitest';
import { runs } from '../../../../test/helpers/property.ts';
import type { Fault } from './catalogue.ts';
import { reasonHeader } from './header.ts';
import type { ParameterValue } from './reason.ts';

/** A fault whose parameters need not be those of its reason. */
const faultWith = (parameters: Record<string, ParameterValue>): Fault => ({
  reason: 'internal.unexpected',
  parameters,
});

/** Parses the header as clients do: the reasons with their parameters. */
function read(faults: readonly Fault[]) {
  return parseList(reasonHeader(faults) as string).map(([reason, parameters]) => ({
    reason: String(reason),
    parameters: Object.fromEntries(
      [...parameters].map(([name, value]) => [
        name,
        value instanceof DisplayString ? value.toString() : value,
      ]),
    ),
  }));
}

test('a reason has its parameters as text, whole number or Display String', () => {
  expect(reasonHeader([faultWith({ field: 'a"b\\c', max: 100, limit: 0.25, name: 'Gitarama é "%\n' })])).toBe(
    'internal.unexpected;field="a\\"b\\\\c";max=100;limit="0.25";name=%"Gitarama %c3%a9 %22%25%0a"',
  );
  expect(parseList('a.b_c;x=1')[0]?.[0]).toBeInstanceOf(Token);
});

test('without a fault there is no header', () => {
  expect(reasonHeader([])).toBeUndefined();
});

test('a value has at most 200 bytes and ends with a whole character', () => {
  const [item] = read([
    faultWith({ name: 'é'.repeat(300), other: `${'a'.repeat(199)}é`, third: 'b'.repeat(201) }),
  ]);
  expect(item?.parameters).toEqual({ name: 'é'.repeat(100), other: 'a'.repeat(199), third: 'b'.repeat(200) });
});

test('at most 8 items are kept', () => {
  expect(read(Array(20).fill(faultWith({ field: 'name' })))).toHaveLength(8);
});

test('parameters and items beyond 2 KB are left out, and the others stay', () => {
  const long = faultWith({ name: '\u0001'.repeat(200), other: '\u0001'.repeat(200), last: 'x' });
  const items = read(Array(4).fill(long));
  expect(items.map(({ parameters }) => Object.keys(parameters))).toEqual([
    ['name', 'other', 'last'],
    ['name', 'last'],
    ['last'],
    ['last'],
  ]);
});

/** Any text: control characters, line breaks and lone surrogates, too. */
const anyText = fc.string({ unit: 'binary', maxLength: 250 }).map(text => `${text}\r\n\u0000\ud800`);

test('the header is one line of ASCII that parses to the same parameters, whatever their values', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ field: fc.oneof(anyText, fc.string({ unit: 'grapheme' })), max: fc.integer() }), {
        minLength: 1,
        maxLength: 12,
      }),
      parameters => {
        const faults = parameters.map(each => faultWith(each));
        const header = reasonHeader(faults) as string;
        expect(header).toMatch(/^[ -~]{1,2048}$/);
        const items = read(faults);
        expect(items.length).toBeLessThanOrEqual(8);
        for (const [index, item] of items.entries()) {
          const { field, max } = parameters[index] as { field: string; max: number };
          if ('max' in item.parameters) expect(item.parameters.max).toBe(max);
          if ('field' in item.parameters)
            expect(field.toWellFormed().startsWith(String(item.parameters.field))).toBe(true);
        }
      },
    ),
    { numRuns: runs(1000) },
  );
});
