import { expect, test } from 'vitest';
import { bodyCheck } from '../../../platform/http/validation.ts';
import { QueryIds, queryIdsOf } from './schemas.ts';

const check = bodyCheck(QueryIds);

test('up to a hundred ids in a query are separated by commas or repeated', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => String(index + 1));
  for (const [sent, read] of [
    ['7', [7]],
    ['7,9', [7, 9]],
    [
      ['7', '9'],
      [7, 9],
    ],
    [hundred.join(','), hundred.map(Number)],
    [hundred, hundred.map(Number)],
    ['4000000000', [2_147_483_647]],
  ] as const) {
    expect(queryIdsOf(check(sent)), String(sent)).toEqual(read);
  }
  for (const sent of ['', '0', '-1', 'x', '7,', ',7', '7,x', ['7', 'x'], [...hundred, '101']]) {
    expect(() => check(sent), String(sent)).toThrow();
  }
  expect(() => check([...hundred, '101'].join(','))).toThrow();
});
