import { expect, test } from 'vitest';
import { countryFilling } from './country-filling.ts';
import { newPlace } from './origin.ts';

const HUYE = { latitude: '-2.1', longitude: '30.06' };
const BANDUNDU = { latitude: '-4', longitude: '18' };

test('the country follows the position, also while it is typed, and is empty where it is unclear', () => {
  const { moved } = countryFilling();
  const place = newPlace();
  const typed = [
    { latitude: '-1' },
    { latitude: '-1.95' },
    // On the way there: a meridian through Gabon, then the sea, then Rwanda.
    { longitude: '1' },
    { longitude: '14' },
    { longitude: '30.06' },
  ];
  const codes = typed.map(part => {
    Object.assign(place, part);
    moved(place);
    return place.countryCode;
  });
  expect(codes).toEqual(['', '', '', 'GA', 'RW']);
  for (const [part, code] of [
    [{ latitude: '-' }, ''],
    [HUYE, 'RW'],
    [{ latitude: '0', longitude: '-30' }, ''],
    [BANDUNDU, 'CD'],
    [{ latitude: '' }, ''],
    [{ latitude: '91' }, ''],
  ] as const) {
    Object.assign(place, part);
    moved(place);
    expect(place.countryCode, JSON.stringify(part)).toBe(code);
  }
});

test('a chosen or stored country stays, in its place only', () => {
  const { moved, chosen } = countryFilling();
  const stored = { ...newPlace(), countryCode: 'BI' };
  Object.assign(stored, HUYE);
  moved(stored);
  expect(stored.countryCode).toBe('BI');

  const place = newPlace();
  const other = newPlace();
  for (const filled of [place, other]) {
    Object.assign(filled, HUYE);
    moved(filled);
  }
  // The one that was filled in, confirmed by choosing it.
  place.countryCode = 'RW';
  chosen(place);
  for (const filled of [place, other]) {
    Object.assign(filled, BANDUNDU);
    moved(filled);
  }
  expect([place.countryCode, other.countryCode]).toEqual(['RW', 'CD']);
  // None chosen is filled in again.
  place.countryCode = '';
  chosen(place);
  moved(place);
  expect(place.countryCode).toBe('CD');
});
