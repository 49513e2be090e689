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

test('what has not changed is not sent', () => {
  expect(changedValues({ a: '', b: 'x', c: true }, { b: 'x', c: '' })).toEqual({ c: true });
  expect([isSame([{ a: 1 }], [{ a: 1 }]), isSame({}, [])]).toEqual([true, false]);
});

test('what a record inherits is not in it', () => {
  expect(valueAt({ a: {} }, 'a.constructor')).toBeUndefined();
});

test('fields show nothing where there is no value, and what is empty is left out of a record', () => {
  expect([undefined, null, '', 0, false].map(textOf)).toEqual(['', '', '', '0', 'false']);
  expect(withoutEmpty({ a: '', b: null, c: undefined, d: 0, e: 'x' })).toEqual({ d: 0, e: 'x' });
});
