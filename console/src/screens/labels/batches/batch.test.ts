import { expect, test } from 'vitest';
import { bodyOf, expiresTooEarly, formOf } from './batch.ts';

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

test('a batch does not expire before the day of its production', () => {
  const batch = (productionDate: string, expiryDate: string) =>
    expiresTooEarly({ ...formOf(), productionDate, expiryDate });
  expect(batch('2026-11-01', '2025-11-01')).toBe(true);
  expect(batch('2026-11-01', '2026-11-01')).toBe(false);
  expect(batch('2026-11-01', '')).toBe(false);
  expect(batch('', '2025-11-01')).toBe(false);
});
