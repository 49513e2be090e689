import { expect, test } from 'vitest';
import { bodyOf, formOf } from './batch.ts';

test('a batch that was read makes a body that changes nothing, with the fields that the form does not show', () => {
  const batch = {
    id: 4,
    number: 'B-1',
    productionDate: '2026-03-01',
    checkAuthenticity: true,
    photo: { id: 2, storageKey: 'key', name: 'a.jpg' },
    locations: [{ latitude: -1.95, longitude: 30.06, address: 'Huye' }],
  };
  expect(bodyOf(formOf(batch))).toEqual({
    number: 'B-1',
    productionDate: '2026-03-01',
    expiryDate: '',
    checkAuthenticity: true,
    traceOrigin: false,
    photo: { storageKey: 'key' },
    locations: [{ latitude: '-1.95', longitude: '30.06', address: 'Huye' }],
  });
  expect(bodyOf({ ...formOf(), number: 'B-2' })).toMatchObject({ number: 'B-2', photo: '', locations: [] });
});
