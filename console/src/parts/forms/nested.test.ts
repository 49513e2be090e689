import { expect, test } from 'vitest';
import { changedValues, isSame, nested, textOf, valueAt, valuesOf, withoutEmpty } from './nested.ts';

test('the values of a form are those of the record at their paths, and make the record again', () => {
  const record = {
    name: 'Kopanyi',
    active: false,
    headquarters: { city: 'Huye', zip: null, country: { id: 184 } },
  };
  const paths = ['name', 'active', 'headquarters.city', 'headquarters.zip', 'headquarters.country.id', 'x.y'];
  const values = valuesOf(record, paths);
  expect(values).toEqual({
    name: 'Kopanyi',
    active: false,
    'headquarters.city': 'Huye',
    'headquarters.zip': '',
    'headquarters.country.id': '184',
    'x.y': '',
  });
  expect(nested(values)).toEqual({
    name: 'Kopanyi',
    active: false,
    headquarters: { city: 'Huye', zip: '', country: { id: '184' } },
    x: { y: '' },
  });
});

test('unchanged values are not sent', () => {
  expect(changedValues({ a: '', b: 'x', c: true }, { b: 'x', c: '' })).toEqual({ c: true });
  expect([isSame([{ a: 1 }], [{ a: 1 }]), isSame({}, [])]).toEqual([true, false]);
});

test('inherited properties are no values of a record', () => {
  expect(valueAt({ a: {} }, 'a.constructor')).toBeUndefined();
});

test('a missing value is an empty text, and empty texts are left out of a record', () => {
  expect([undefined, null, '', 0, false].map(textOf)).toEqual(['', '', '', '0', 'false']);
  expect(withoutEmpty({ a: '', b: null, c: undefined, d: 0, e: 'x' })).toEqual({ d: 0, e: 'x' });
});
