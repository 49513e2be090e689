import { expect, test } from 'vitest';
import { namesOf } from '../../../../src/trace-backend/base/records/changes.ts';
import { usesIn } from './uses.ts';

test('the records that the service names in an error are read back, whatever their names are', () => {
  const uses = [
    { noun: 'value chain', name: 'the "red" one and 2 of kind tea, such as "x"', count: 1 },
    { noun: 'semi-product', name: 'Cherry \\ "', count: 3 },
    { noun: 'company', name: 'Kopanyi', count: 1 },
  ];
  expect(usesIn(namesOf(uses))).toEqual(uses.map(({ noun, ...use }) => ({ kind: noun, ...use })));
  expect(usesIn(namesOf(uses).slice(0, -1))).toHaveLength(2);
  expect(usesIn('')).toEqual([]);
});
