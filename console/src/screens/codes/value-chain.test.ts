import { expect, test } from 'vitest';
import { bodyOf, formOf } from './value-chain.ts';

test('the form of a value chain makes the body with everything that is used in it, by its id', () => {
  const lists = { facilityTypes: [{ id: 3 }, { id: 4 }], semiProducts: [{ id: 5 }] };
  const form = formOf({ id: 1, name: 'Coffee', productType: { id: 2, name: 'Green' }, ...lists });
  expect(bodyOf(form)).toEqual({
    name: 'Coffee',
    description: '',
    productType: { id: 2 },
    ...lists,
    measureUnitTypes: [],
    processingEvidenceTypes: [],
    processingEvidenceFields: [],
  });
  expect(bodyOf(formOf())).toMatchObject({ productType: '', facilityTypes: [] });
});
